// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/rpc/limits.h"
#include "tests/server/rpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace traza {
namespace {

using absl::StatusCode;

// Bytes that do not repeat within a chunk.
std::string Bytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1'664'525 + 1'013'904'223;
    c = static_cast<char>(state >> 24);
  }
  return bytes;
}

// How many descriptors of this process are open on files whose path holds
// `part`.
int OpenFiles(const std::string& part) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored);
    if (absl::StrContains(target.native(), part)) ++count;
  }
  return count;
}

struct Download {
  TestContext context;
  std::unique_ptr<grpc::ClientReader<v1::FileChunk>> reader;
};

// What came until the stream ended.
struct Received {
  std::vector<v1::FileChunk> chunks;
  std::string bytes;
  absl::Status status;
};

class ReadTraceTest : public RpcFixture {
 protected:
  std::unique_ptr<Download> Open(const std::string& name, int64_t offset = 0,
                                 int64_t limit = 0) {
    auto download = std::make_unique<Download>();
    v1::ReadTraceRequest request;
    request.set_name(name);
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    download->reader = trace_stub_->ReadTrace(&download->context, request);
    return download;
  }

  Received Read(const std::string& name, int64_t offset = 0,
                int64_t limit = 0) {
    const auto download = Open(name, offset, limit);
    Received received;
    for (v1::FileChunk chunk; download->reader->Read(&chunk);) {
      received.bytes += chunk.data();
      received.chunks.push_back(chunk);
    }
    received.status = FromGrpc(download->reader->Finish());
    return received;
  }
};

TEST_F(ReadTraceTest, SendsTheFileInChunksAndSaysWhatItIs) {
  const std::string bytes = Bytes(600'000);
  const TraceRow row = StoreBytes("t", bytes);

  const Received received = Read("traces/t");

  ASSERT_THAT(received.status, IsOk());
  EXPECT_EQ(received.bytes, bytes);
  ASSERT_EQ(received.chunks.size(), 3U);
  EXPECT_EQ(received.chunks[0].file().size_bytes(), 600'000);
  EXPECT_EQ(received.chunks[0].file().sha256(), row.sha256);
  EXPECT_EQ(received.chunks[0].file().media_type(),
            "application/vnd.apache.parquet");
  EXPECT_EQ(received.chunks[0].file().file_name(), "t.parquet");
  EXPECT_FALSE(received.chunks[1].has_file());
  EXPECT_EQ(received.chunks[1].offset(), kReadChunkBytes);
  EXPECT_FALSE(received.chunks[1].last());
  EXPECT_TRUE(received.chunks[2].last());
}

TEST_F(ReadTraceTest, SendsTheRangeThatWasAskedFor) {
  const std::string bytes = Bytes(600'000);
  StoreBytes("t", bytes);

  const Received middle = Read("traces/t", 1000, 300'000);
  const Received tail = Read("traces/t", 599'999, 1'000'000);

  ASSERT_THAT(middle.status, IsOk());
  EXPECT_EQ(middle.bytes, bytes.substr(1000, 300'000));
  EXPECT_EQ(middle.chunks[0].file().size_bytes(), 600'000);
  EXPECT_TRUE(middle.chunks.back().last());
  EXPECT_EQ(tail.bytes, bytes.substr(599'999));
}

TEST_F(ReadTraceTest, RangeOfNothingIsOneEmptyChunk) {
  StoreBytes("t", Bytes(1000));

  const Received received = Read("traces/t", 1000);

  ASSERT_THAT(received.status, IsOk());
  ASSERT_EQ(received.chunks.size(), 1U);
  EXPECT_TRUE(received.chunks[0].last());
  EXPECT_EQ(received.bytes, "");
}

TEST_F(ReadTraceTest, BadArgumentsAreRefused) {
  StoreBytes("t", Bytes(1000));

  EXPECT_THAT(Read("traces/nothing").status,
              StatusIs(StatusCode::kNotFound, HasReason("TRACE_NOT_FOUND")));
  EXPECT_THAT(Read("nothing").status, HasViolation("name"));
  EXPECT_THAT(Read("traces/t", 1001).status, HasViolation("read_offset"));
  EXPECT_THAT(Read("traces/t", -1).status, HasViolation("read_offset"));
  EXPECT_THAT(Read("traces/t", 0, -1).status, HasViolation("read_limit"));
}

TEST_F(ReadTraceTest, LastChunkOfAChangedFileIsNeverSent) {
  const TraceRow row = StoreBytes("t", Bytes(600'000));
  {
    std::fstream file(traces_->PathOf(row.id, row.create_time),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5);
    file.put('x');
  }

  const Received received = Read("traces/t");

  EXPECT_THAT(received.status,
              StatusIs(StatusCode::kDataLoss, HasReason("TRACE_CORRUPT")));
  EXPECT_EQ(received.chunks.size(), 2U);
}

TEST_F(ReadTraceTest, FileThatIsMissingOrCutOffIsCorrupt) {
  const TraceRow cut = StoreBytes("cut", Bytes(600'000));
  std::filesystem::resize_file(traces_->PathOf(cut.id, cut.create_time), 1000);
  const TraceRow gone = StoreBytes("gone", Bytes(1000));
  std::filesystem::remove(traces_->PathOf(gone.id, gone.create_time));

  EXPECT_THAT(Read("traces/cut").status, HasReason("TRACE_CORRUPT"));
  EXPECT_THAT(Read("traces/gone").status, HasReason("TRACE_CORRUPT"));
}

TEST_F(ReadTraceTest, FileIsClosedAfterTheClientHasGone) {
  StoreBytes("t", std::string(64 << 20, 'x'));
  {
    const auto download = Open("traces/t");
    v1::FileChunk chunk;
    ASSERT_TRUE(download->reader->Read(&chunk));
    ASSERT_EQ(OpenFiles("t.parquet"), 1);
    download->context.TryCancel();
  }

  EXPECT_TRUE(WaitUntil([] { return OpenFiles("t.parquet") == 0; }));
}

TEST_F(ReadTraceTest, DeletedWhileItIsReadItIsReadToTheEnd) {
  const std::string bytes = Bytes(16 << 20);
  StoreBytes("t", bytes);
  const auto download = Open("traces/t");
  v1::FileChunk chunk;
  ASSERT_TRUE(download->reader->Read(&chunk));
  std::string received = chunk.data();

  TestContext context;
  v1::DeleteTraceRequest request;
  request.set_name("traces/t");
  google::protobuf::Empty empty;
  ASSERT_TRUE(trace_stub_->DeleteTrace(&context, request, &empty).ok());
  while (download->reader->Read(&chunk)) received += chunk.data();

  EXPECT_THAT(FromGrpc(download->reader->Finish()), IsOk());
  EXPECT_TRUE(received == bytes);
}

TEST_F(ReadTraceTest, OneStreamTooManyIsRefusedUntilAnotherEnds) {
  StoreBytes("t", std::string(64 << 20, 'x'));
  std::vector<std::unique_ptr<Download>> downloads;
  v1::FileChunk chunk;
  for (int i = 0; i < kMaxReadStreams; ++i) {
    downloads.push_back(Open("traces/t"));
    ASSERT_TRUE(downloads.back()->reader->Read(&chunk));
  }

  const Received refused = Read("traces/t", 0, 1);
  downloads.clear();

  EXPECT_THAT(refused.status, StatusIs(StatusCode::kResourceExhausted,
                                       HasReason("TOO_MANY_REQUESTS")));
  EXPECT_TRUE(DetailsOf(refused.status)->retry_after.has_value());
  EXPECT_TRUE(WaitUntil([&] { return Read("traces/t", 0, 1).status.ok(); }));
}

}  // namespace
}  // namespace traza
