// SPDX-License-Identifier: Apache-2.0
#include "worker/op_buffer.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using ::testing::ElementsAre;

class OpBufferTest : public testing::Test {
 protected:
  void Open(const char* name, int64_t start, bool range = false) {
    if (OpRow* const row = buffer_.Open(name, range)) row->start = start;
  }

  // "name start-end", in the order in which they were recorded.
  std::vector<std::string> Drain() {
    RawRecords records;
    buffer_.Drain(1000, TickMap(), {"float"}, &records, &completeness_);
    std::vector<std::string> rows;
    for (const RawHostEvent& event : records.host) {
      rows.push_back(records.names.at(event.name) + " " +
                     std::to_string(event.start_ns) + "-" +
                     std::to_string(event.end_ns));
    }
    return rows;
  }

  OpBuffer buffer_;
  Completeness completeness_;
};

TEST_F(OpBufferTest, KeepsNestedOperators) {
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());

  Open("outer", 1);
  Open("inner", 2);
  buffer_.Close(3);
  buffer_.Close(4);

  EXPECT_THAT(Drain(), ElementsAre("outer 1-4", "inner 2-3"));
  EXPECT_EQ(completeness_.dropped_ops, 0);
  EXPECT_EQ(completeness_.id_stack_depth, 0);
}

TEST_F(OpBufferTest, TellsRangesFromOperators) {
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());
  Open("mine", 1, /*range=*/true);
  buffer_.Close(2);
  Open("mine", 3);
  buffer_.Close(4);

  RawRecords records;
  buffer_.Drain(1000, TickMap(), {}, &records, &completeness_);

  ASSERT_EQ(records.host.size(), 2);
  EXPECT_EQ(records.host[0].kind, EventKind::kRange);
  EXPECT_EQ(records.host[1].kind, EventKind::kOp);
  EXPECT_EQ(records.host[0].name, records.host[1].name);
}

TEST_F(OpBufferTest, RewindForgetsAndKeepsTheRoom) {
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());
  Open("priming", 1);
  buffer_.Close(2);

  buffer_.Rewind();
  Open("measured", 3);
  buffer_.Close(4);

  EXPECT_THAT(Drain(), ElementsAre("measured 3-4"));
}

TEST_F(OpBufferTest, DropsAndCountsWhatDoesNotFit) {
  ASSERT_THAT(buffer_.Reserve(1, false), IsOk());
  int64_t room = 0;
  while (buffer_.Open("op", false) != nullptr) {
    buffer_.Close(1);
    ++room;
  }
  buffer_.Close(1);
  for (int i = 0; i < 99; ++i) {
    Open("op", 1);
    buffer_.Close(2);
  }

  EXPECT_EQ(Drain().size(), room);
  EXPECT_EQ(completeness_.dropped_ops, 100);
  EXPECT_EQ(completeness_.id_stack_depth, 0);
}

TEST_F(OpBufferTest, RecordsNothingWithoutRoom) {
  EXPECT_EQ(buffer_.Open("op", false), nullptr);
  buffer_.Close(1);

  EXPECT_TRUE(Drain().empty());
  EXPECT_EQ(completeness_.dropped_ops, 1);
}

TEST_F(OpBufferTest, DropsBelowTheDeepestLevelOnly) {
  ASSERT_THAT(buffer_.Reserve(1000, false), IsOk());
  constexpr int kDepth = OpBuffer::kMaxDepth + 10;
  for (int i = 0; i < kDepth; ++i) Open("op", i);
  for (int i = 0; i < kDepth; ++i) buffer_.Close(500 + i);
  Open("after", 900);
  buffer_.Close(901);

  const std::vector<std::string> rows = Drain();

  ASSERT_EQ(rows.size(), OpBuffer::kMaxDepth + 1);
  EXPECT_EQ(rows.front(), "op 0-637");
  EXPECT_EQ(rows.back(), "after 900-901");
  EXPECT_EQ(completeness_.dropped_ops, 10);
  EXPECT_EQ(completeness_.id_stack_depth, 0);
}

TEST_F(OpBufferTest, CountsAnEndWithoutAStart) {
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());

  buffer_.Close(1);

  EXPECT_TRUE(Drain().empty());
  EXPECT_EQ(completeness_.id_stack_depth, 1);
}

TEST_F(OpBufferTest, EndsWhatStillRunsAtTheEndOfTheWindow) {
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());

  Open("op", 1);

  EXPECT_THAT(Drain(), ElementsAre("op 1-1000"));
  EXPECT_EQ(completeness_.id_stack_depth, 1);
}

TEST_F(OpBufferTest, ThreadsThatComeLateFindRoom) {
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());
  Open("main", 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      for (int op = 0; op < 100; ++op) {
        Open("late", 2);
        buffer_.Close(3);
      }
    });
  }
  threads.clear();
  buffer_.Close(4);

  EXPECT_EQ(Drain().size(), 801);
  EXPECT_EQ(completeness_.dropped_ops, 0);
}

TEST_F(OpBufferTest, MoreThreadsThanLanesAreDroppedAndCounted) {
  ASSERT_THAT(buffer_.Reserve(100'000, false), IsOk());
  for (int i = 0; i < OpBuffer::kMaxThreads + 5; ++i) {
    std::jthread([this] {
      Open("op", 1);
      buffer_.Close(2);
    });
  }

  EXPECT_EQ(Drain().size(), OpBuffer::kMaxThreads);
  EXPECT_EQ(completeness_.dropped_ops, 5);
}

TEST_F(OpBufferTest, KeepsEncodedInputs) {
  ASSERT_THAT(buffer_.Reserve(10, true), IsOk());
  OpRow* const row = buffer_.Open("aten::mm", false);
  const std::vector<int64_t> sizes = {2, 3};
  const std::vector<int64_t> other = {3, 4};
  InputWriter writer(buffer_.InputRoom());
  writer.Tensor(0, sizes.data(), 2);
  writer.Tensor(0, other.data(), 2);
  writer.End();
  buffer_.WroteInputs(row, writer.bytes());
  buffer_.Close(2);

  RawRecords records;
  buffer_.Drain(1000, TickMap(), {"float"}, &records, &completeness_);

  ASSERT_EQ(records.host.size(), 1);
  EXPECT_EQ(records.names.at(records.host[0].shapes), "[[2,3],[3,4]]");
  EXPECT_EQ(records.names.at(records.host[0].dtypes), "float,float");
  EXPECT_EQ(records.host[0].flops, 48);
}

TEST_F(OpBufferTest, ABufferIsUsedAfterAnotherOnOneThread) {
  {
    OpBuffer other;
    ASSERT_THAT(other.Reserve(10, false), IsOk());
    other.Open("other", false);
    other.Close(1);
  }
  ASSERT_THAT(buffer_.Reserve(10, false), IsOk());

  Open("op", 1);
  buffer_.Close(2);

  EXPECT_THAT(Drain(), ElementsAre("op 1-2"));
}

}  // namespace
}  // namespace traza
