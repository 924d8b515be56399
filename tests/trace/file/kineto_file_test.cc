// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_file.h"

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "spec/phase.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/trace/file/gzip.h"
#include "trace/file/any_trace.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

using testing::HasSubstr;

// A document with these events, and members in front of them.
std::string Document(absl::string_view events, absl::string_view members = "") {
  return absl::StrCat("{", members, "\"traceEvents\": [", events, "]}");
}

Trace Import(absl::string_view events, absl::string_view members = "") {
  absl::StatusOr<Trace> trace = ReadKineto(Document(events, members));
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return {};
  }
  EXPECT_THAT(Validate(*trace), IsOk());
  return *std::move(trace);
}

// The one row of that name.
size_t RowOf(const Trace& trace, const std::string& name) {
  std::optional<size_t> found;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.name_of(row) != name) continue;
    EXPECT_FALSE(found.has_value()) << "two rows " << name;
    found = row;
  }
  EXPECT_TRUE(found.has_value()) << "no row " << name;
  return found.value_or(0);
}

std::string TextAt(const Trace& trace, const Column<int32_t>& column,
                   size_t row) {
  return column.is_null(row) ? "null" : trace.names.at(column.at(row));
}

constexpr char kOp[] = R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm",
  "pid": 10, "tid": 11, "ts": 100.000, "dur": 50.000,
  "args": {"External id": 5, "Ev Idx": 0}})";
constexpr char kCall[] = R"({"ph": "X", "cat": "cuda_runtime",
  "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": 110.000, "dur": 10,
  "args": {"External id": 5, "cbid": 211, "correlation": 77}})";
constexpr char kKernel[] = R"({"ph": "X", "cat": "kernel", "name": "gemm",
  "pid": 2, "tid": 7, "ts": 130.125, "dur": 9.875, "args": {"External id": 5,
  "queued": 0, "device": 2, "context": 1, "stream": 7, "correlation": 77,
  "registers per thread": 168, "shared memory": 213188, "blocks per SM": 1.0,
  "grid": [2, 66, 1], "block": [384, 1, 1],
  "est. achieved occupancy %": 0}})";

TEST(ReadKineto, AKernelHasItsCallAndItsOp) {
  const Trace trace = Import(absl::StrCat(kOp, ",", kCall, ",", kKernel));

  ASSERT_EQ(trace.rows(), 3u);
  const size_t op = RowOf(trace, "aten::mm");
  const size_t call = RowOf(trace, "cudaLaunchKernel");
  const size_t kernel = RowOf(trace, "gemm");
  EXPECT_EQ(trace.kind[op], EventKind::kOp);
  EXPECT_EQ(trace.kind[call], EventKind::kCall);
  EXPECT_EQ(trace.kind[kernel], EventKind::kKernel);
  EXPECT_EQ(trace.start_ns[op], 100'000);
  EXPECT_EQ(trace.duration_ns[op], 50'000);
  EXPECT_EQ(trace.process.at(op), 10);
  EXPECT_EQ(trace.thread.at(op), 11);
  EXPECT_EQ(trace.parent.at(call), static_cast<int64_t>(op));
  EXPECT_EQ(trace.start_ns[kernel], 130'125);
  EXPECT_EQ(trace.duration_ns[kernel], 9'875);
  EXPECT_EQ(trace.call.at(kernel), static_cast<int64_t>(call));
  EXPECT_EQ(trace.op.at(kernel), static_cast<int64_t>(op));
  EXPECT_EQ(trace.device.at(kernel), 2);
  EXPECT_EQ(trace.context.at(kernel), 1);
  EXPECT_EQ(trace.stream.at(kernel), 7);
  EXPECT_EQ(trace.correlation.at(kernel), 77);
  EXPECT_TRUE(trace.thread.is_null(kernel));
  EXPECT_EQ(trace.registers.at(kernel), 168);
  EXPECT_TRUE(trace.shared_static.is_null(kernel));
  EXPECT_EQ(trace.shared_dynamic.at(kernel), 213'188);
  EXPECT_EQ(trace.grid_y.at(kernel), 66);
  EXPECT_EQ(trace.block_x.at(kernel), 384);
  // Without the properties of the device it is unknown; Kineto's 0 is wrong.
  EXPECT_TRUE(trace.occupancy.is_null(kernel));
  EXPECT_EQ(trace.header.completeness.unmatched_call, 0);
  EXPECT_EQ(trace.header.completeness.failed_calls, std::nullopt);
  EXPECT_EQ(trace.header.completeness.dropped, std::nullopt);
}

TEST(ReadKineto, AKernelWithoutItsCallIsTiedByExternalId) {
  const Trace trace = Import(absl::StrCat(kKernel, ",", kOp));

  const size_t kernel = RowOf(trace, "gemm");
  EXPECT_TRUE(trace.call.is_null(kernel));
  EXPECT_EQ(trace.op.at(kernel),
            static_cast<int64_t>(RowOf(trace, "aten::mm")));
}

TEST(ReadKineto, AKernelWithoutCallAndOpIsCountedAndKept) {
  const Trace trace = Import(absl::StrCat(kKernel, ",", R"({"ph": "X",
      "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
      "ts": 1, "dur": 1, "args": {"correlation": 78}})"));

  EXPECT_EQ(trace.rows(), 2u);
  EXPECT_EQ(trace.header.completeness.unmatched_call, 1);
  EXPECT_EQ(trace.header.completeness.missing_gpu, 1);
}

// An event with an external id and a correlation; times in whole microseconds.
std::string Event(const char* category, const char* name, int tid, int ts,
                  int duration, int id, int correlation) {
  return absl::StrCat(
      R"({"ph": "X", "cat": ")", category, R"(", "name": ")", name,
      R"(", "pid": 1, "tid": )", tid, R"(, "ts": )", ts, R"(, "dur": )",
      duration, R"(, "args": {"External id": )", id,
      correlation > 0 ? absl::StrCat(R"(, "correlation": )", correlation) : "",
      "}}");
}

TEST(ReadKineto, AnExternalIdThatIsTheCorrelationNamesNoOp) {
  const Trace trace =
      Import(absl::StrCat(Event("cpu_op", "aten::view", 1, 50, 5, 6, 0), ",",
                          Event("kernel", "old", 7, 90, 20, 6, 6)));

  EXPECT_TRUE(trace.op.is_null(RowOf(trace, "old")));
}

TEST(ReadKineto, WorkIsOfNoOpThatBeganAfterIt) {
  const Trace trace =
      Import(absl::StrCat(Event("kernel", "old", 7, 90, 20, 6, 12), ",",
                          Event("cpu_op", "aten::view", 1, 500, 5, 6, 0)));

  EXPECT_TRUE(trace.op.is_null(RowOf(trace, "old")));
}

// Some files know a thread by two numbers.
TEST(ReadKineto, ACallOutsideOfOpsIsOfTheOpThatItNames) {
  const Trace trace = Import(absl::StrCat(
      Event("cpu_op", "aten::mm", 1, 100, 100, 2, 0), ",",
      Event("cuda_runtime", "cudaLaunchKernel", 7041, 120, 5, 2, 9), ",",
      Event("kernel", "k", 7, 130, 50, 2, 9)));

  const auto op = static_cast<int64_t>(RowOf(trace, "aten::mm"));
  EXPECT_EQ(trace.op.at(RowOf(trace, "cudaLaunchKernel")), op);
  EXPECT_EQ(trace.op.at(RowOf(trace, "k")), op);
  EXPECT_EQ(trace.header.completeness.unmatched_op, 0);
}

TEST(ReadKineto, AnExternalIdBeatsNestingByWholeMicroseconds) {
  const Trace trace = Import(absl::StrCat(
      Event("cpu_op", "aten::mat_mul", 1, 100, 100, 2, 0), ",",
      Event("cpu_op", "aten::mm", 1, 120, 70, 4, 0), ",",
      Event("cuda_runtime", "first", 1, 120, 0, 2, 8), ",",
      Event("cuda_runtime", "last", 1, 190, 0, 4, 9), ",",
      Event("cuda_runtime", "no op ends so early", 1, 199, 0, 4, 10)));

  const auto outer = static_cast<int64_t>(RowOf(trace, "aten::mat_mul"));
  const auto inner = static_cast<int64_t>(RowOf(trace, "aten::mm"));
  EXPECT_EQ(trace.op.at(RowOf(trace, "first")), outer);
  EXPECT_EQ(trace.op.at(RowOf(trace, "last")), inner);
  EXPECT_EQ(trace.op.at(RowOf(trace, "no op ends so early")), outer);
}

TEST(ReadKineto, CopiesWithoutARecordMayHaveBeenEmpty) {
  const Trace trace = Import(absl::StrCat(
      Event("cuda_runtime", "cudaMemsetAsync", 1, 1, 1, 2, 3), ",", kKernel));

  EXPECT_EQ(trace.header.completeness.missing_gpu, 0);
  EXPECT_EQ(trace.header.completeness.unsure_gpu, 1);
}

TEST(ReadKineto, LaunchesWithoutWorkAreSaid) {
  EXPECT_THAT(Import(absl::StrCat(kOp, ",", kCall)).header.collector_note,
              HasSubstr("The file has 1 call that launches, but no work"));
  EXPECT_THAT(Import(absl::StrCat(kOp, ",",
                                  Event("cuda_runtime", "cudaDeviceSynchronize",
                                        1, 1, 1, 2, 3)))
                  .header.collector_note,
              HasSubstr("The file has calls, but none that launches"));
}

TEST(ReadKineto, TimesCountFromTheBase) {
  const std::string base = R"("baseTimeNanoseconds": 1790857026000000000)";
  const auto start = [](const absl::StatusOr<Trace>& trace) {
    return trace.ok() && trace->rows() == 1 ? trace->start_ns[0] : -1;
  };

  EXPECT_EQ(start(ReadKineto(Document(kOp, absl::StrCat(base, ",")))),
            1'790'857'026'000'100'000);
  // Also where it comes after the events.
  EXPECT_EQ(start(ReadKineto(
                absl::StrCat(R"({"traceEvents": [)", kOp, "],", base, "}"))),
            1'790'857'026'000'100'000);
}

TEST(ReadKineto, StepMarksAreStepsByTime) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#9", "pid": 1,
     "tid": 1, "ts": 20, "dur": 10},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#8", "pid": 1,
     "tid": 1, "ts": 10, "dur": 10},
    {"ph": "X", "cat": "user_annotation", "name": "mine", "pid": 1, "tid": 1,
     "ts": 21, "dur": 2})");

  const size_t first = RowOf(trace, "ProfilerStep#8");
  EXPECT_EQ(trace.kind[first], EventKind::kStep);
  EXPECT_EQ(trace.step.at(first), 0);
  EXPECT_EQ(trace.step.at(RowOf(trace, "ProfilerStep#9")), 1);
  const size_t mine = RowOf(trace, "mine");
  EXPECT_EQ(trace.kind[mine], EventKind::kRange);
  EXPECT_EQ(trace.step.at(mine), 1);
  EXPECT_EQ(trace.phase.at(mine), static_cast<int8_t>(Phase::kTraced));
}

TEST(ReadKineto, CopiesAndFillsHaveBytesAndKind) {
  const Trace trace = Import(R"json(
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)",
     "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"bytes": 4096,
     "memory bandwidth (GB/s)": 2.048}},
    {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0,
     "tid": 7, "ts": 4, "dur": 1, "args": {"bytes": 64}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "copyBuffer", "pid": 0, "tid": 7,
     "ts": 6, "dur": 1})json");

  const size_t copy = RowOf(trace, "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(trace.kind[copy], EventKind::kCopy);
  EXPECT_EQ(trace.bytes.at(copy), 4096);
  EXPECT_EQ(TextAt(trace, trace.copy_kind, copy), "htod");
  const size_t fill = RowOf(trace, "Memset (Device)");
  EXPECT_EQ(trace.kind[fill], EventKind::kFill);
  EXPECT_EQ(trace.bytes.at(fill), 64);
  const size_t other = RowOf(trace, "copyBuffer");
  EXPECT_TRUE(trace.copy_kind.is_null(other));
  EXPECT_TRUE(trace.bytes.is_null(other));
  EXPECT_EQ(trace.device.at(other), 0);
  EXPECT_EQ(trace.stream.at(other), 7);
}

TEST(ReadKineto, WaitsOfTheCpuAreSyncs) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize",
     "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 4}},
    {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7,
     "ts": 1, "dur": 2, "args": {"cuda_sync_kind": "Stream Sync", "stream": 7,
     "correlation": 4, "device": 0, "context": 1}})");

  EXPECT_EQ(trace.kind[RowOf(trace, "cudaStreamSynchronize")],
            EventKind::kSync);
  const size_t on_device = RowOf(trace, "Stream Sync");
  EXPECT_EQ(trace.kind[on_device], EventKind::kSync);
  EXPECT_TRUE(trace.thread.is_null(on_device));
  EXPECT_EQ(trace.stream.at(on_device), 7);
  EXPECT_EQ(trace.header.completeness.unmatched_call, std::nullopt);
}

TEST(ReadKineto, WaitsOfMtiaAreNoWork) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "mtia_runtime", "name": "synchronizeStream", "pid": 10,
     "tid": 11, "ts": 1, "dur": 9},
    {"ph": "X", "cat": "mtia_ccp_events", "name": "event_wait", "pid": 17,
     "tid": 3, "ts": 1, "dur": 15863, "args": {"stream": 108}},
    {"ph": "X", "cat": "mtia_ccp_events", "name": "event_record", "pid": 17,
     "tid": 3, "ts": 2, "dur": 1, "args": {"stream": 105}},
    {"ph": "X", "cat": "mtia_ccp_events", "name": "pe_exe", "pid": 17,
     "tid": 3, "ts": 3, "dur": 6900, "args": {"stream": 112}})");

  EXPECT_EQ(trace.kind[RowOf(trace, "synchronizeStream")], EventKind::kSync);
  const size_t wait = RowOf(trace, "event_wait");
  EXPECT_EQ(trace.kind[wait], EventKind::kSync);
  EXPECT_TRUE(trace.thread.is_null(wait));
  EXPECT_EQ(trace.stream.at(wait), 108);
  EXPECT_EQ(trace.kind[RowOf(trace, "event_record")], EventKind::kSync);
  EXPECT_EQ(trace.kind[RowOf(trace, "pe_exe")], EventKind::kKernel);
}

TEST(ReadKineto, AnAnnotationOnTheDeviceIsNoWork) {
  const Trace trace = Import(absl::StrCat(kOp, ",", kCall, ",", kKernel, R"(,
    {"ph": "X", "cat": "gpu_user_annotation", "name": "mine", "pid": 2,
     "tid": 7, "ts": 120, "dur": 30, "args": {"External id": 5}})"));

  const size_t range = RowOf(trace, "mine");
  EXPECT_EQ(trace.kind[range], EventKind::kRange);
  EXPECT_EQ(trace.device.at(range), 2);
  EXPECT_TRUE(trace.thread.is_null(range));
  EXPECT_TRUE(trace.op.is_null(range));
  EXPECT_EQ(trace.header.completeness.unmatched_call, 0);
}

TEST(ReadKineto, OverheadIsOfTheThreadOfWhatItIsIn) {
  const Trace trace = Import(absl::StrCat(kOp, R"(,
    {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request",
     "pid": -1, "tid": 0, "ts": 110, "dur": 20},
    {"ph": "X", "cat": "overhead", "name": "Lazy Function Loading",
     "pid": -1, "tid": 0, "ts": 9000, "dur": 20})"));

  const size_t inside = RowOf(trace, "Activity Buffer Request");
  const size_t outside = RowOf(trace, "Lazy Function Loading");
  EXPECT_EQ(trace.kind[inside], EventKind::kOverhead);
  EXPECT_EQ(trace.kind[trace.parent.at(inside)], EventKind::kOp);
  EXPECT_TRUE(trace.thread.is_null(outside));
  EXPECT_TRUE(trace.process.is_null(outside));
  EXPECT_TRUE(trace.parent.is_null(outside));
}

TEST(ReadKineto, MemoryInstantsAreAllocations) {
  const Trace trace = Import(absl::StrCat(kOp, R"(,
    {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
     "pid": 10, "tid": 11, "ts": 120, "args": {"Total Allocated": 512,
     "Bytes": 512, "Device Id": 1, "Device Type": 1}},
    {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",
     "pid": 10, "tid": 11, "ts": 121, "args": {"Bytes": -64, "Device Id": -1,
     "Device Type": 0}})"));

  const size_t allocate = RowOf(trace, "allocate");
  EXPECT_EQ(trace.kind[allocate], EventKind::kAlloc);
  EXPECT_EQ(trace.bytes.at(allocate), 512);
  EXPECT_EQ(trace.device.at(allocate), 1);
  EXPECT_EQ(trace.op.at(allocate), 0);
  const size_t free = RowOf(trace, "free");
  EXPECT_EQ(trace.bytes.at(free), -64);
  EXPECT_TRUE(trace.device.is_null(free));
}

TEST(ReadKineto, ShapesAreSpelledAsOurs) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1,
     "ts": 1, "dur": 2, "args": {"Input type": ["c10::BFloat16", "long int",
     "float", "Scalar", "ScalarList"], "Concrete Inputs": ["", "", "", "1", ""],
     "Input Dims": [[4], [2, 3], [3, 4], [], []]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::cat", "pid": 1, "tid": 1,
     "ts": 5, "dur": 2, "args": {"Input Dims": [[[2, 3], [2, 3]], []],
     "Input type": ["TensorList", "Scalar"]}})");

  const size_t addmm = RowOf(trace, "aten::addmm");
  EXPECT_EQ(TextAt(trace, trace.shapes, addmm), "[[4],[2,3],[3,4],[],[]]");
  EXPECT_EQ(TextAt(trace, trace.dtypes, addmm), "bfloat16,long,float,Scalar,");
  EXPECT_EQ(trace.flops.at(addmm), 2 * 4 * (2 * 3 + 1));
  const size_t cat = RowOf(trace, "aten::cat");
  EXPECT_EQ(TextAt(trace, trace.shapes, cat), "[[[2,3],[2,3]],[]]");
  EXPECT_EQ(TextAt(trace, trace.dtypes, cat), "TensorList,Scalar");
  EXPECT_TRUE(trace.flops.is_null(cat));
  EXPECT_EQ(trace.header.job.depth, Depth::kShapes);
}

TEST(ReadKineto, BrokenShapesAreUnknown) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
     "ts": 1, "dur": 2, "args": {"Input Dims": [[9000000000000000000, 4],
     [4, 9000000000000000000]], "Input type": ["float", "float"]}},
    {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 5,
     "dur": 2, "args": {"Input Dims": [[[[1]]]], "Input type": ["float"]}},
    {"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 8,
     "dur": 2, "args": {"Input Dims": "[[1]]"}})");

  EXPECT_TRUE(trace.flops.is_null(RowOf(trace, "aten::mm")));
  EXPECT_TRUE(trace.shapes.is_null(RowOf(trace, "b")));
  EXPECT_TRUE(trace.shapes.is_null(RowOf(trace, "c")));
}

TEST(ReadKineto, TheHeaderSaysWhereItComesFrom) {
  const Trace trace = Import(absl::StrCat(kOp, ",", kCall, ",", kKernel), R"(
    "schemaVersion": 1, "deviceProperties": [
      {"id": 0, "name": "other", "numSms": 1},
      {"id": 2, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
       "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
       "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536,
       "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
       "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448,
       "sharedMemPerMultiprocessor": 233472}],
    "cuda_driver_version": 13000, "cuda_runtime_version": 12060,
    "cupti_version": 130001, "distributedInfo": {"backend": "nccl", "rank": 3,
    "world_size": 8, "pg_count": 1},)");

  const Header& header = trace.header;
  EXPECT_EQ(header.producer, "torch.profiler");
  EXPECT_EQ(header.collector, "kineto");
  EXPECT_EQ(header.versions.at("cuda"), "13.0");
  EXPECT_EQ(header.versions.at("cuda_runtime"), "12.6");
  EXPECT_EQ(header.versions.at("cupti"), "130001");
  EXPECT_EQ(header.device.id, "gpu2");
  EXPECT_EQ(header.device.model, "NVIDIA H200");
  EXPECT_EQ(header.device.compute_capability, "9.0");
  EXPECT_EQ(header.job.labels.at("distributed"), "rank 3 of 8, nccl");
  EXPECT_EQ(header.job.depth, Depth::kOps);
  ASSERT_TRUE(header.device.multiprocessor.has_value());
  EXPECT_EQ(header.device.multiprocessor->shared_bytes_reserved_per_block,
            1024);
}

TEST(ReadKineto, WhatIsNoRowIsCounted) {
  const Trace trace = Import(absl::StrCat(kOp, ",", R"(
    {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 1, "cat": "ac2g"},
    {"ph": "f", "id": 1, "pid": 0, "tid": 7, "ts": 1, "cat": "ac2g"},
    {"ph": "X", "cat": "python_function", "name": "f", "ts": 1, "dur": 1},
    {"ph": "X", "cat": "new_thing", "name": "f", "ts": 1, "dur": 1},
    {"ph": "X", "cat": "cpu_op", "name": "f", "ts": NaN, "dur": 1},
    {"ph": "X", "cat": "cpu_op", "name": "f", "ts": 1},
    {"ph": "C", "name": "counter", "ts": 1},
    {"ph": "M", "name": "process_name", "pid": 1})"));

  EXPECT_EQ(trace.rows(), 1u);
  EXPECT_THAT(trace.header.collector_note,
              HasSubstr("Events that are no rows: 2 ac2g, 1 new_thing, "
                        "1 python_function, 1 without a category, "
                        "2 without a time."));
  EXPECT_THAT(trace.header.collector_note,
              HasSubstr("The file has no events of a device"));
}

TEST(ReadKineto, AFileWithoutEventsIsATraceWithoutRows) {
  EXPECT_THAT(Import("").header.collector_note,
              HasSubstr("The file has no events"));
  EXPECT_EQ(Import("").rows(), 0u);
}

TEST(ReadKineto, OldAndForeignDialectsAreRead) {
  const absl::StatusOr<Trace> trace = ReadKineto(R"([
    {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 10,
     "tid": "thread 11", "ts": 1612345678901234, "dur": 50,
     "args": {"External id": 5, "Input dims": [[2, 3], [3, 4]],
     "Input type": ["float", "float"]}},
    {"ph": "X", "cat": "Runtime", "name": "hipLaunchKernel", "pid": 10,
     "tid": "11", "ts": 1612345678901240, "dur": 5,
     "args": {"correlation": 9, "external id": 5}},
    {"ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7",
     "ts": 1612345678901250, "dur": 5, "args": {"correlation": 9}},
    {"ph": "X", "cat": "mtia_ccp_events", "name": "ccp", "pid": 1, "tid": 3,
     "ts": 1612345678901260, "dur": 5},
    {"ph": "X", "cat": "privateuse1_runtime", "name": "aclrt", "pid": 10,
     "tid": 11, "ts": 1612345678901270, "dur": 1}])");

  ASSERT_THAT(trace, IsOk());
  ASSERT_EQ(trace->rows(), 5u);
  const size_t op = RowOf(*trace, "aten::mm");
  EXPECT_EQ(trace->start_ns[op], 1'612'345'678'901'234'000);
  EXPECT_EQ(trace->thread.at(op), 11);
  EXPECT_EQ(trace->flops.at(op), 2 * 2 * 3 * 4);
  const size_t kernel = RowOf(*trace, "gemm");
  EXPECT_EQ(trace->stream.at(kernel), 7);
  EXPECT_EQ(trace->op.at(kernel), static_cast<int64_t>(op));
  EXPECT_EQ(trace->kind[RowOf(*trace, "ccp")], EventKind::kKernel);
  EXPECT_EQ(trace->kind[RowOf(*trace, "aclrt")], EventKind::kCall);
}

TEST(ReadKineto, MembersMayComeInAnyOrder) {
  const Trace trace = Import(R"(
    {"args": {"Bytes": 1, "device": 4, "stream": 3}, "cat": "gpu_memset",
     "dur": 1.5, "name": "m", "ph": "X", "pid": 0, "tid": 7, "ts": 2})");

  const size_t fill = RowOf(trace, "m");
  EXPECT_EQ(trace.device.at(fill), 4);
  EXPECT_EQ(trace.stream.at(fill), 3);
  EXPECT_EQ(trace.duration_ns[fill], 1500);
}

TEST(ReadKineto, NodesOfGraphsShareTheirLaunch) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1,
     "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 4}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 5,
     "dur": 1, "args": {"correlation": 4, "graph id": 1, "graph node id": 31}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 6,
     "dur": 1, "args": {"correlation": 4, "graph id": 1,
     "graph node id": 32}})");

  EXPECT_EQ(trace.graph_node.at(RowOf(trace, "a")), 31);
  EXPECT_EQ(trace.graph.at(RowOf(trace, "b")), 1);
  EXPECT_EQ(trace.call.at(RowOf(trace, "b")), 0);
  EXPECT_EQ(trace.header.completeness.missing_gpu, 0);
}

TEST(ReadKineto, NamesAreUtf8) {
  const Trace trace = Import(absl::StrCat(R"(
    {"ph": "X", "cat": "cpu_op", "name": "a\u00e9\"", "pid": 1, "tid": 1,
     "ts": 1, "dur": 1},
    {"ph": "X", "cat": "cpu_op", "name": "b)",
                                          "\xff\xc3", R"(", "pid": 1,
     "tid": 1, "ts": 3, "dur": 1})"));

  RowOf(trace, "a\u00e9\"");
  RowOf(trace, "b\ufffd\ufffd");
}

TEST(ReadKineto, OddTimesAreCutAndCounted) {
  const Trace trace = Import(R"(
    {"ph": "X", "cat": "cpu_op", "name": "negative", "pid": 1, "tid": 1,
     "ts": -5, "dur": 1},
    {"ph": "X", "cat": "cpu_op", "name": "reversed", "pid": 1, "tid": 1,
     "ts": 10, "dur": -5},
    {"ph": "X", "cat": "cpu_op", "name": "late", "pid": 1, "tid": 1,
     "ts": 9223372036854775, "dur": 9223372036854775})");

  EXPECT_EQ(trace.duration_ns[RowOf(trace, "reversed")], 0);
  EXPECT_EQ(trace.header.completeness.bad_order, 3);
}

TEST(ReadKineto, EventsThatAreNoObjectsAreRefused) {
  for (const char* const events :
       {"1", "{}, null", "[]", "{} {}", "{\"a\": 1 \"b\": 2}"}) {
    EXPECT_THAT(ReadKineto(Document(events)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasReason("TRACE_UNREADABLE")))
        << events;
  }
}

TEST(ReadKineto, StopsAtTheLimits) {
  KinetoReadLimits limits;
  limits.max_events = 1;
  EXPECT_THAT(
      ReadKineto(Document(absl::StrCat(kOp, ",", kCall)), limits).status(),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasReason("TRACE_TOO_LARGE")));
}

class ReadAnyTraceTest : public testing::Test {
 protected:
  absl::StatusOr<Trace> Read(const std::string& bytes) {
    const std::filesystem::path path = dir_ / "trace.bin";
    std::ofstream(path, std::ios::binary) << bytes;
    return ReadAnyTrace(path);
  }

  TempDir dir_;
};

TEST_F(ReadAnyTraceTest, TheFirstBytesTellTheFormat) {
  EXPECT_THAT(Read(Document(kOp)), IsOk());
  EXPECT_THAT(Read(absl::StrCat("\xef\xbb\xbf\n [", kOp, "]")), IsOk());
  EXPECT_THAT(Read(Gzip(Document(kOp))), IsOk());
  EXPECT_THAT(Read("PAR1").status(), HasReason("TRACE_INCOMPLETE"));
  EXPECT_THAT(Read("hello").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasReason("TRACE_UNREADABLE")));
  EXPECT_THAT(Read("").status(), HasReason("TRACE_UNREADABLE"));
  EXPECT_THAT(ReadAnyTrace(dir_ / "none").status(),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadAnyTrace(dir_.path()).status(),
              HasReason("TRACE_UNREADABLE"));
}

TEST_F(ReadAnyTraceTest, AnImportedTraceCanBeKeptAsParquet) {
  const Trace imported = Import(absl::StrCat(kOp, ",", kCall, ",", kKernel));
  const std::filesystem::path path = dir_ / "kept.parquet";
  ASSERT_THAT(WriteParquet(imported, path).status(), IsOk());

  const absl::StatusOr<Trace> kept = ReadAnyTrace(path);

  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(kept->header, imported.header);
  EXPECT_EQ(kept->rows(), imported.rows());
}

}  // namespace
}  // namespace traza
