// SPDX-License-Identifier: Apache-2.0
#include "worker/l2_flush_rows.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "trace/record.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int32_t kProcess = 1;
constexpr int64_t kThread = 2;

RawHostEvent Host(EventKind kind, const char* name, int64_t start_ns,
                  RawRecords* records, int64_t thread = kThread) {
  RawHostEvent event;
  event.kind = kind;
  event.name = records->names.Intern(name);
  event.start_ns = start_ns;
  event.end_ns = start_ns + 5;
  event.process = kProcess;
  event.thread = thread;
  return event;
}

RawDeviceEvent Device(EventKind kind, const char* name, int64_t start_ns,
                      RawRecords* records) {
  RawDeviceEvent event;
  event.kind = kind;
  event.name = records->names.Intern(name);
  event.start_ns = start_ns;
  event.end_ns = start_ns + 5;
  return event;
}

// "gemm at 20", in the order in which they are kept.
template <typename Event>
std::vector<std::string> Names(const RawRecords& records,
                               const std::vector<Event>& events) {
  std::vector<std::string> names;
  for (const Event& event : events) {
    names.push_back(std::string(records.names.at(event.name)) + " at " +
                    std::to_string(event.start_ns));
  }
  return names;
}

// A step that launches and clears, until 50; it is done at 70; the next one
// starts at 100.
const std::vector<L2FlushTime> kOneFlush = {
    {.start_ns = 50, .write_ns = 70, .end_ns = 100}};

TEST(SeparateL2Flushes, TakesOutWhatAFlushDidAndNamesIt) {
  RawRecords records;
  records.host = {Host(EventKind::kSync, "cuCtxSynchronize", 50, &records),
                  Host(EventKind::kCall, "cuMemsetD8Async", 70, &records),
                  Host(EventKind::kSync, "cuCtxSynchronize", 75, &records)};
  records.device = {Device(EventKind::kFill, "Memset", 80, &records)};

  SeparateL2Flushes(kOneFlush, kProcess, kThread, &records);

  EXPECT_THAT(Names(records, records.host), ElementsAre("l2 flush at 50"));
  EXPECT_EQ(records.host[0].kind, EventKind::kOverhead);
  EXPECT_EQ(records.host[0].end_ns, 100);
  EXPECT_EQ(records.host[0].process, kProcess);
  EXPECT_EQ(records.host[0].thread, kThread);
  EXPECT_THAT(records.device, IsEmpty());
}

TEST(SeparateL2Flushes, LeavesTheWorkOfStepsAlone) {
  RawRecords records;
  records.host = {
      Host(EventKind::kCall, "cuLaunchKernel", 20, &records),
      Host(EventKind::kCall, "cuMemsetD8Async", 30, &records),
      Host(EventKind::kOverhead, "Buffer Flush", 60, &records),
      Host(EventKind::kCall, "cuLaunchKernel", 80, &records, kThread + 1),
      Host(EventKind::kCall, "cuLaunchKernel", 100, &records)};
  // What the step launched still runs while its thread waits.
  records.device = {Device(EventKind::kKernel, "gemm", 40, &records),
                    Device(EventKind::kFill, "Memset", 55, &records),
                    Device(EventKind::kKernel, "gemm", 104, &records)};

  SeparateL2Flushes(kOneFlush, kProcess, kThread, &records);

  EXPECT_THAT(Names(records, records.host),
              ElementsAre("cuLaunchKernel at 20", "cuMemsetD8Async at 30",
                          "Buffer Flush at 60", "cuLaunchKernel at 80",
                          "cuLaunchKernel at 100", "l2 flush at 50"));
  EXPECT_THAT(Names(records, records.device),
              ElementsAre("gemm at 40", "Memset at 55", "gemm at 104"));
}

TEST(SeparateL2Flushes, WithoutOneChangesNothing) {
  RawRecords records;
  records.device = {Device(EventKind::kFill, "Memset", 80, &records)};

  SeparateL2Flushes({}, kProcess, kThread, &records);

  EXPECT_THAT(records.host, IsEmpty());
  EXPECT_THAT(Names(records, records.device), ElementsAre("Memset at 80"));
}

}  // namespace
}  // namespace traza
