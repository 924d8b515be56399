// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

#include "traza/v1/host_service.pb.h"
#include "traza/v1/job_service.pb.h"
#include "traza/v1/trace_service.pb.h"

namespace traza {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

std::vector<const FileDescriptor*> Files() {
  return {v1::Job::descriptor()->file(),
          v1::CreateJobRequest::descriptor()->file(),
          v1::Trace::descriptor()->file(),
          v1::GetTraceRequest::descriptor()->file(),
          v1::Host::descriptor()->file(),
          v1::GetHostRequest::descriptor()->file()};
}

std::vector<std::string> FieldsOfBannedTypes() {
  std::vector<std::string> found;
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      const Descriptor& message = *file->message_type(i);
      for (int k = 0; k < message.field_count(); ++k) {
        const FieldDescriptor& field = *message.field(k);
        const auto type = field.cpp_type();
        if (type == FieldDescriptor::CPPTYPE_UINT32 ||
            type == FieldDescriptor::CPPTYPE_UINT64 ||
            type == FieldDescriptor::CPPTYPE_FLOAT) {
          found.push_back(field.full_name());
        }
      }
    }
  }
  return found;
}

// The JSON printer relies on it.
TEST(ApiRules, NoFieldIsUnsignedOrFloat) {
  EXPECT_THAT(FieldsOfBannedTypes(), testing::IsEmpty());
}

// So that deletion and lists stay what callers expect of them.
TEST(ApiRules, MethodsAreThoseOfTheDesign) {
  std::vector<std::string> methods;
  for (const FileDescriptor* file : Files()) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int k = 0; k < file->service(i)->method_count(); ++k) {
        methods.push_back(file->service(i)->method(k)->name());
      }
    }
  }

  EXPECT_THAT(methods,
              testing::ElementsAre(
                  "CreateJob", "GetJob", "ListJobs", "CancelJob", "DeleteJob",
                  "WaitJob", "WatchJob", "GetTrace", "ListTraces",
                  "DeleteTrace", "ReadTrace", "ImportTrace", "GetTable",
                  "ExplainTrace", "GetTimeline", "DiffTraces", "CheckTrace",
                  "ExportTrace", "GetHost", "ListDevices", "ListWorkloads"));
}

}  // namespace
}  // namespace traza
