// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/connect_error.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/any.pb.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace traza {
namespace {

using google::protobuf::Any;
using google::protobuf::Struct;

struct CodeText {
  const char* name;
  int http_status;
};

// By gRPC code; the table of the Connect protocol.
constexpr std::array<CodeText, 17> kCodes = {{
    {"unknown", 500},  // OK is no error
    {"canceled", 499},
    {"unknown", 500},
    {"invalid_argument", 400},
    {"deadline_exceeded", 504},
    {"not_found", 404},
    {"already_exists", 409},
    {"permission_denied", 403},
    {"resource_exhausted", 429},
    {"failed_precondition", 400},
    {"aborted", 409},
    {"out_of_range", 400},
    {"unimplemented", 501},
    {"internal", 500},
    {"unavailable", 503},
    {"data_loss", 500},
    {"unauthenticated", 401},
}};

std::string Base64WithoutPadding(const std::string& bytes) {
  std::string text = absl::Base64Escape(bytes);
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

template <typename Detail>
bool AddDebug(const Any& any, Struct* to) {
  Detail detail;
  if (!any.UnpackTo(&detail)) return false;
  std::string json;
  return google::protobuf::util::MessageToJsonString(detail, &json).ok() &&
         google::protobuf::util::JsonStringToMessage(json, to).ok();
}

Struct ToDetail(const Any& any) {
  Struct detail;
  auto& fields = *detail.mutable_fields();
  std::string type = any.type_url();
  type.erase(0, type.rfind('/') + 1);
  fields["type"].set_string_value(type);
  fields["value"].set_string_value(Base64WithoutPadding(any.value()));
  Struct debug;
  if (AddDebug<google::rpc::ErrorInfo>(any, &debug) ||
      AddDebug<google::rpc::BadRequest>(any, &debug) ||
      AddDebug<google::rpc::RetryInfo>(any, &debug)) {
    *fields["debug"].mutable_struct_value() = std::move(debug);
  }
  return detail;
}

}  // namespace

ConnectReply ToConnectReply(const WireError& error) {
  const bool known =
      error.code > 0 && error.code < static_cast<int>(kCodes.size());
  const CodeText& code = kCodes[known ? static_cast<size_t>(error.code) : 2];
  Struct body;
  auto& fields = *body.mutable_fields();
  fields["code"].set_string_value(code.name);
  fields["message"].set_string_value(error.message);
  google::rpc::Status status;
  if (status.ParseFromString(error.details) && status.details_size() > 0) {
    auto& details = *fields["details"].mutable_list_value();
    for (const Any& any : status.details()) {
      *details.add_values()->mutable_struct_value() = ToDetail(any);
    }
  }
  ConnectReply reply;
  reply.http_status = code.http_status;
  reply.content_type = "application/json";
  if (!google::protobuf::util::MessageToJsonString(body, &reply.body).ok()) {
    reply.body = absl::StrCat(R"({"code":")", code.name, R"("})");
  }
  return reply;
}

}  // namespace traza
