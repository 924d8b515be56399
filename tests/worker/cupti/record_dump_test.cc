// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/record_dump.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/file.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/worker/cupti/activity_records.h"

namespace traza {
namespace {

using ::testing::SizeIs;

class RecordDumpTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return dir_ / "records.cbor"; }

  TempDir dir_;
};

RecordDump Sample() {
  CUpti_ActivityKernel10 kernel = GemmRecord();
  kernel.pAccessPolicyWindow = reinterpret_cast<CUaccessPolicyWindow*>(8);
  CUpti_ActivityKernel10 priming = kernel;
  priming.start = 100;
  priming.end = 200;
  ActivityRecords records;
  records.Add(priming).Add(kernel);
  RawRecords calls;
  calls.host.push_back({.kind = EventKind::kCall,
                        .name = calls.names.Intern("cuLaunchKernelEx"),
                        .start_ns = 900,
                        .end_ns = 950,
                        .correlation = 42});
  RecordDump dump;
  dump.Add(records.data(), records.size());
  dump.SetWindow(800, 6000, calls);
  return dump;
}

TEST_F(RecordDumpTest, WhatIsReadBackDecodesAsItDidWhereItWasRecorded) {
  ASSERT_THAT(Sample().Write(path()), IsOk());

  const absl::StatusOr<RecordDump> dump = RecordDump::Read(path());

  ASSERT_THAT(dump, IsOk());
  EXPECT_EQ(dump->window_ns(), 5200);
  const RawRecords records = dump->Decode();
  ASSERT_THAT(records.device, SizeIs(1)) << "the priming step is left out";
  EXPECT_EQ(records.names.at(records.device[0].name), GemmRecord().name);
  EXPECT_EQ(records.device[0].start_ns, 200);
  EXPECT_EQ(records.device[0].end_ns, 4200);
  ASSERT_THAT(records.host, SizeIs(1));
  EXPECT_EQ(records.names.at(records.host[0].name), "cuLaunchKernelEx");
  EXPECT_EQ(records.host[0].start_ns, 100);
  EXPECT_EQ(records.host[0].correlation, 42);
}

TEST_F(RecordDumpTest, PointersOfTheRecordingProcessAreNotKept) {
  const RecordDump dump = Sample();

  std::string bytes = dump.buffers()[0];
  CUpti_ActivityKernel10 first;
  std::memcpy(&first, bytes.data(), sizeof first);
  EXPECT_EQ(first.pAccessPolicyWindow, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.name), 1u);
}

TEST_F(RecordDumpTest, WhatIsNoDumpIsRefusedWithTheReason) {
  for (const char* const bytes : {"", "x",
                                  "\xa1\x65"
                                  "cupti\x01"}) {
    ASSERT_THAT(WriteFileAtomically(path(), bytes), IsOk());
    EXPECT_THAT(RecordDump::Read(path()),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_FALSE(RecordDump::Read(dir_ / "nothing").ok());
}

TEST_F(RecordDumpTest, ANameThatIsNotThereIsEmpty) {
  RecordDump dump = Sample();
  CUpti_ActivityKernel10 kernel = GemmRecord();
  kernel.name = nullptr;
  ActivityRecords records;
  records.Add(kernel);
  dump.Add(records.data(), records.size());

  const RawRecords decoded = dump.Decode();

  ASSERT_THAT(decoded.device, SizeIs(2));
  EXPECT_EQ(decoded.names.at(decoded.device[1].name), "");
}

}  // namespace
}  // namespace traza
