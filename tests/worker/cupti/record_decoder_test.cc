// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/record_decoder.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/worker/cupti/activity_records.h"

namespace traza {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As the driver of an H200 says.
constexpr MultiprocessorLimits kH200 = {.count = 132,
                                        .compute_major = 9,
                                        .compute_minor = 0,
                                        .warp_threads = 32,
                                        .max_threads_per_block = 1024,
                                        .max_threads = 2048,
                                        .max_blocks = 32,
                                        .registers_per_block = 65536,
                                        .registers = 65536,
                                        .shared_bytes_per_block = 49152,
                                        .shared_bytes_per_block_optin = 232448,
                                        .shared_bytes_reserved_per_block = 1024,
                                        .shared_bytes = 233472};

class RecordDecoderTest : public testing::Test {
 protected:
  const RawDeviceEvent& Decode(ActivityRecords& records) {
    decoder_.Decode(records.data(), records.size());
    return decoder_.records().device.back();
  }
  const std::string& Name(int32_t id) {
    return decoder_.records().names.at(id);
  }

  RecordDecoder decoder_{kH200};
};

TEST_F(RecordDecoderTest, AKernelHasItsLaunchShapeAndOccupancy) {
  ActivityRecords records;
  records.Add(GemmRecord());

  const RawDeviceEvent& kernel = Decode(records);

  EXPECT_EQ(kernel.kind, EventKind::kKernel);
  EXPECT_EQ(Name(kernel.name),
            "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT");
  EXPECT_EQ(kernel.start_ns, 1000);
  EXPECT_EQ(kernel.end_ns, 5000);
  EXPECT_EQ(kernel.device, 0);
  EXPECT_EQ(kernel.context, 1);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.correlation, 42);
  EXPECT_THAT(kernel.grid, ElementsAre(66, 2, 1));
  EXPECT_THAT(kernel.block, ElementsAre(384, 1, 1));
  EXPECT_EQ(kernel.registers, 168);
  EXPECT_EQ(kernel.shared_static, 0);
  EXPECT_EQ(kernel.shared_dynamic, 213188);
  EXPECT_EQ(kernel.occupancy, 0.1875);
  EXPECT_EQ(kernel.graph, kNull<int64_t>);
  EXPECT_EQ(kernel.graph_node, kNull<int64_t>);
}

TEST_F(RecordDecoderTest, ClustersThatDoNotFillTheDeviceLowerOccupancy) {
  CUpti_ActivityKernel10 kernel = GemmRecord();
  kernel.clusterX = 1;
  kernel.clusterY = 4;
  kernel.clusterZ = 1;
  kernel.maxActiveClusters = 30;
  ActivityRecords records;
  records.Add(kernel);

  EXPECT_NEAR(Decode(records).occupancy, 0.1875 * 120 / 132, 1e-12);
}

TEST_F(RecordDecoderTest, WithoutLimitsOccupancyIsUnknown) {
  ActivityRecords records;
  records.Add(GemmRecord());
  RecordDecoder decoder(std::nullopt);

  decoder.Decode(records.data(), records.size());

  EXPECT_TRUE(std::isnan(decoder.records().device[0].occupancy));
}

TEST_F(RecordDecoderTest, NamesAreDemangledAndOthersKept) {
  CUpti_ActivityKernel10 kernel = GemmRecord();
  kernel.name = "_Z6kernelIfEvPT_";
  ActivityRecords records;
  records.Add(kernel);
  EXPECT_EQ(Name(Decode(records).name), "void kernel<float>(float*)");

  kernel.name = nullptr;
  ActivityRecords nameless;
  nameless.Add(kernel);
  EXPECT_EQ(Name(Decode(nameless).name), "");
}

TEST_F(RecordDecoderTest, AGraphNodeKeepsItsIds) {
  CUpti_ActivityKernel10 kernel = GemmRecord();
  kernel.graphId = 3;
  kernel.graphNodeId = (uint64_t{3} << 32) + 5;
  ActivityRecords records;
  records.Add(kernel);

  const RawDeviceEvent& node = Decode(records);

  EXPECT_EQ(node.graph, 3);
  EXPECT_EQ(node.graph_node, (int64_t{3} << 32) + 5);
}

TEST_F(RecordDecoderTest, ACopyHasItsBytesAndKinds) {
  CUpti_ActivityMemcpy6 copy = {};
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = uint64_t{6} << 30;
  copy.start = 10;
  copy.end = 10;
  copy.correlationId = 9;
  ActivityRecords records;
  records.Add(copy);

  const RawDeviceEvent& event = Decode(records);

  EXPECT_EQ(event.kind, EventKind::kCopy);
  EXPECT_EQ(Name(event.name), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(Name(event.copy_kind), "htod");
  EXPECT_EQ(event.bytes, int64_t{6} << 30);
  EXPECT_EQ(event.correlation, 9);
  EXPECT_EQ(event.grid[0], kNull<int32_t>);
}

TEST_F(RecordDecoderTest, APeerCopyAndAFill) {
  CUpti_ActivityMemcpyPtoP4 copy = {};
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.deviceId = 1;
  CUpti_ActivityMemset4 fill = {};
  fill.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  fill.bytes = 4;
  ActivityRecords records;
  records.Add(copy).Add(fill);
  Decode(records);

  const auto& events = decoder_.records().device;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(Name(events[0].name), "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(Name(events[0].copy_kind), "ptop");
  EXPECT_EQ(events[0].device, 1);
  EXPECT_EQ(events[1].kind, EventKind::kFill);
  EXPECT_EQ(Name(events[1].name), "Memset (Device)");
  EXPECT_EQ(events[1].bytes, 4);
  EXPECT_EQ(events[1].copy_kind, kNull<int32_t>);
}

TEST_F(RecordDecoderTest, OverheadIsAHostEventAndTheTracersOwnIsToldApart) {
  CUpti_ActivityOverhead3 request = {};
  request.overheadKind = CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST;
  request.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  request.objectId.pt.processId = 11;
  request.objectId.pt.threadId = 12;
  request.start = 100;
  request.end = 300;
  request.overheadData = std::malloc(16);  // the decoder frees it
  CUpti_ActivityOverhead3 loading = request;
  loading.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  loading.overheadData = nullptr;
  ActivityRecords records;
  records.Add(request).Add(loading);

  decoder_.Decode(records.data(), records.size());

  const auto& events = decoder_.records().host;
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].kind, EventKind::kOverhead);
  EXPECT_EQ(Name(events[0].name), "Activity Buffer Request");
  EXPECT_EQ(events[0].process, 11);
  EXPECT_EQ(events[0].thread, 12);
  EXPECT_EQ(Name(events[1].name), "Lazy Function Loading");
  ASSERT_THAT(decoder_.own_time(), SizeIs(1));
  EXPECT_EQ(decoder_.own_time()[0].start_ns, 100);
  EXPECT_EQ(decoder_.own_time()[0].end_ns, 300);
}

TEST_F(RecordDecoderTest, WhatComesAfterABrokenRecordIsLostAndCounted) {
  CUpti_ActivityOverhead3 broken = {};
  ActivityRecords records;
  records.Add(GemmRecord())
      .Add(static_cast<CUpti_ActivityKind>(0x0eeeeeee), broken)
      .Add(GemmRecord());

  decoder_.Decode(records.data(), records.size());

  EXPECT_THAT(decoder_.records().device, SizeIs(1));
  EXPECT_EQ(decoder_.truncated_buffers(), 1);
}

TEST_F(RecordDecoderTest, AnEmptyBufferIsNoFault) {
  uint8_t nothing[8] = {};

  decoder_.Decode(nothing, 0);

  EXPECT_THAT(decoder_.records().device, IsEmpty());
  EXPECT_EQ(decoder_.truncated_buffers(), 0);
}

}  // namespace
}  // namespace traza
