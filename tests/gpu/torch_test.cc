// SPDX-License-Identifier: Apache-2.0
// Operator -> call -> kernel with PyTorch itself: streams, threads, backward,
// graphs; and whole jobs.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/ops/add.h"
#include "ATen/ops/gelu.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/sum.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"
#include "c10/core/impl/VirtualGuardImpl.h"
#include "cuda_runtime_api.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "torch/csrc/autograd/autograd.h"

#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "trace/analysis/table.h"
#include "trace/correlate/correlate.h"
#include "trace/file/parquet_file.h"
#include "worker/collector.h"
#include "worker/device_collector.h"
#include "worker/job.h"
#include "worker/op_recorder.h"
#include "worker/torch_runtime.h"

namespace traza {
namespace {

class NoProgress : public StepProgress {
 public:
  void OnPhase(Phase /*phase*/, std::optional<int64_t> /*total*/) override {}
};

class TorchTest : public testing::Test {
 protected:
  void SetUp() override {
    runtime_ = std::make_unique<TorchRuntime>();
    if (!runtime_->no_gpu().empty()) GTEST_SKIP() << runtime_->no_gpu();
    recorder_ = MakeTorchOpRecorder(clock_);
    collector_ = MakeDeviceCollector(*runtime_->FindDevice("gpu0"), clock_);
  }

  static at::Tensor Random(int64_t size) {
    return at::randn({size, size}, at::device(at::kCUDA).dtype(at::kBFloat16));
  }

  // What `work` does, recorded as one step; it runs twice before.
  void Record(const std::function<void()>& work) {
    work();
    ASSERT_THAT(collector_->Prepare({.device_records = 10'000}), IsOk());
    ASSERT_THAT(recorder_->Reserve(10'000, false), IsOk());
    ASSERT_THAT(collector_->Arm(), IsOk());
    recorder_->Start();
    work();
    runtime_->Synchronize("gpu0");
    clock_.Open();
    ASSERT_THAT(collector_->OpenWindow(), IsOk());
    recorder_->Rewind();
    const int64_t start = clock_.Now();
    work();
    const int64_t end = clock_.Now();
    runtime_->Synchronize("gpu0");
    recorder_->Stop();
    clock_.Close();
    ASSERT_THAT(collector_->CloseWindow(), IsOk());
    ASSERT_THAT(collector_->Disarm(), IsOk());
    RawRecords records;
    Header header;
    recorder_->Drain(&records, &header.completeness);
    ASSERT_THAT(collector_->Drain(&records), IsOk());
    collector_->Losses(&header.completeness);
    records.steps.push_back({.start_ns = clock_.ToRealtimeNs(start),
                             .end_ns = clock_.ToRealtimeNs(end),
                             .process = static_cast<int32_t>(getpid()),
                             .thread = gettid()});
    trace_ = Correlate(std::move(records), std::move(header));
    EXPECT_EQ(trace_.header.completeness.missing_gpu, 0);
    EXPECT_EQ(trace_.header.completeness.unmatched_call, 0);
  }

  void RunJobInto(const JobSpec& spec) {
    NoProgress progress;
    const std::atomic<bool> stop{false};
    const TempDir dir;
    const std::string out = (dir / "out.parquet").native();
    const JobOutcome outcome =
        RunJob({.spec = spec, .out = out}, {.runtime = *runtime_,
                                            .clock = clock_,
                                            .recorder = *recorder_,
                                            .collector = *collector_,
                                            .progress = progress,
                                            .stop = stop});
    ASSERT_THAT(outcome.status, IsOk());
    trace_ = *ReadParquet(out);
  }

  std::vector<size_t> Rows(EventKind kind) const {
    std::vector<size_t> rows;
    for (size_t row = 0; row < trace_.rows(); ++row) {
      if (trace_.kind[row] == kind) rows.push_back(row);
    }
    return rows;
  }
  const std::string& Name(int64_t row) const {
    return trace_.names.at(trace_.name[row]);
  }
  // The name of the op that caused device work; "" without one.
  std::string OpOf(size_t row) const {
    return trace_.op.is_null(row) ? "" : Name(trace_.op.at(row));
  }

  // Device time is conserved: what ops caused, and nothing else, ran.
  void ExpectDeviceTimeToBeThatOfTheOps() const {
    int64_t kernels = 0;
    for (size_t row = 0; row < trace_.rows(); ++row) {
      if (IsDeviceWork(trace_.kind[row])) kernels += trace_.duration_ns[row];
    }
    const absl::StatusOr<Table> table = MakeTable(trace_, {.by = TableBy::kOp});
    ASSERT_THAT(table, IsOk());
    int64_t self = 0;
    for (const TableRow& row : table->rows) {
      self += row.self_device_ns.value_or(0);
    }
    EXPECT_EQ(self, kernels);
  }

  std::unique_ptr<TorchRuntime> runtime_;
  WindowClock clock_;
  std::unique_ptr<OpRecorder> recorder_;
  std::unique_ptr<Collector> collector_;
  Trace trace_;
};

TEST_F(TorchTest, EveryKernelHasTheOpThatCausedIt) {
  const c10::InferenceMode inference;
  const at::Tensor x = Random(64), y = Random(64);
  Record([&] { at::add(at::matmul(x, y), y); });

  const std::vector<size_t> kernels = Rows(EventKind::kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(OpOf(kernels[0]), "aten::mm");
  EXPECT_EQ(OpOf(kernels[1]), "aten::add");
  EXPECT_EQ(trace_.header.completeness.unmatched_op, 0);
  ExpectDeviceTimeToBeThatOfTheOps();
}

TEST_F(TorchTest, BackwardRunsOnAThreadOfItsOwnAndStillHasItsOps) {
  const at::Tensor x = Random(256).set_requires_grad(true);
  const at::Tensor w = Random(256).set_requires_grad(true);
  Record([&] {
    const at::Tensor loss = at::sum(at::gelu(at::matmul(x, w)));
    torch::autograd::backward({loss}, {});
  });

  std::set<int64_t> threads;
  for (const size_t row : Rows(EventKind::kKernel)) {
    EXPECT_NE(OpOf(row), "") << Name(static_cast<int64_t>(row));
    threads.insert(trace_.thread.at(trace_.call.at(row)));
  }
  EXPECT_EQ(threads.size(), 2u);
  ExpectDeviceTimeToBeThatOfTheOps();
}

TEST_F(TorchTest, ThreadsAndStreamsDoNotMixTheirOps) {
  const at::Tensor x = Random(512);
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  Record([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        const c10::InferenceMode inference;
        const c10::Stream mine =
            cuda.getStreamFromGlobalPool(x.device(), /*isHighPriority=*/false);
        const c10::Stream before = cuda.exchangeStream(mine);
        for (int i = 0; i < 10; ++i) at::add(at::matmul(x, x), x);
        cuda.exchangeStream(before);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });

  std::set<int64_t> streams;
  const std::vector<size_t> kernels = Rows(EventKind::kKernel);
  EXPECT_EQ(kernels.size(), 40u);
  for (const size_t row : kernels) {
    ASSERT_FALSE(trace_.op.is_null(row));
    EXPECT_EQ(trace_.thread.at(trace_.op.at(row)),
              trace_.thread.at(trace_.call.at(row)));
    streams.insert(trace_.stream.at(row));
  }
  EXPECT_EQ(streams.size(), 2u);
  ExpectDeviceTimeToBeThatOfTheOps();
}

TEST_F(TorchTest, NodesOfAReplayedGraphBelongToTheCallThatReplayedThem) {
  const c10::InferenceMode inference;
  const at::Tensor x = Random(256);
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  const c10::Stream mine =
      cuda.getStreamFromGlobalPool(x.device(), /*isHighPriority=*/false);
  const c10::Stream before = cuda.exchangeStream(mine);
  auto* const stream = static_cast<cudaStream_t>(mine.native_handle());
  const auto step = [&] { at::add(at::matmul(x, x), x); };
  for (int i = 0; i < 3; ++i) step();
  cudaGraphExec_t graph = nullptr;
  Record([&] {
    if (graph == nullptr) {
      cudaGraph_t captured = nullptr;
      ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                cudaSuccess);
      step();
      ASSERT_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
      ASSERT_EQ(cudaGraphInstantiate(&graph, captured, 0), cudaSuccess);
    }
    RECORD_USER_SCOPE("replay");
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(cudaGraphLaunch(graph, stream), cudaSuccess);
    }
  });
  cuda.exchangeStream(before);

  std::map<int64_t, int> nodes_of_call;
  for (const size_t row : Rows(EventKind::kKernel)) {
    ASSERT_FALSE(trace_.call.is_null(row));
    EXPECT_EQ(Name(trace_.call.at(row)), "cuGraphLaunch");
    EXPECT_FALSE(trace_.graph_node.is_null(row));
    ++nodes_of_call[trace_.call.at(row)];
  }
  EXPECT_EQ(nodes_of_call.size(), 5u);
  for (const auto& [call, nodes] : nodes_of_call) EXPECT_GE(nodes, 2);
}

TEST_F(TorchTest, AMatmulAndAddOf4096HasTheKernelsAndTimesItShould) {
  constexpr int kSteps = 10;
  RunJobInto({.workload = "matmul_add",
              .variant = "eager",
              .device = "gpu0",
              .params = {{"size", "4096"},
                         {"batch", "1"},
                         {"dtype", "bf16"},
                         {"bias", "2d"}},
              .cold_steps = 3,
              .traced_steps = kSteps});

  std::map<int64_t, std::vector<std::string>> ops;
  std::map<int64_t, int64_t> device_ns;
  for (const size_t row : Rows(EventKind::kKernel)) {
    if (trace_.phase.at(row) != static_cast<int8_t>(Phase::kTraced)) continue;
    ops[trace_.step.at(row)].push_back(OpOf(row));
    device_ns[trace_.step.at(row)] += trace_.duration_ns[row];
  }
  ASSERT_EQ(ops.size(), kSteps);
  for (const auto& [step, names] : ops) {
    EXPECT_THAT(names, testing::ElementsAre("aten::mm", "aten::add"));
    EXPECT_GT(device_ns[step], 150'000) << "step " << step;
  }
  std::vector<int64_t> cold;
  for (const size_t row : Rows(EventKind::kStep)) {
    if (trace_.phase.at(row) == static_cast<int8_t>(Phase::kCold)) {
      cold.push_back(trace_.duration_ns[row]);
    }
  }
  ASSERT_EQ(cold.size(), 3u);
  EXPECT_GT(cold[0], 10 * cold[2]);
}

TEST_F(TorchTest, AFlushOfTheL2CacheIsNoWorkOfAnyStep) {
  RunJobInto({.workload = "matmul_add",
              .variant = "eager",
              .device = "gpu0",
              .params = {{"size", "512"}, {"dtype", "bf16"}, {"bias", "2d"}},
              .timed_steps = 20,
              .traced_steps = 20,
              .l2 = L2Policy::kFlush});

  EXPECT_EQ(trace_.header.timed.steps_per_batch, 1);
  std::vector<size_t> flushes;
  for (const size_t row : Rows(EventKind::kOverhead)) {
    if (trace_.name_of(row) == kL2FlushName) flushes.push_back(row);
  }
  EXPECT_EQ(flushes.size(), 20u);
  // A product may clear a few bytes; writing over the cache is no row.
  for (const size_t row : Rows(EventKind::kFill)) {
    EXPECT_LT(trace_.bytes.at(row), 1 << 20);
  }
  EXPECT_EQ(Rows(EventKind::kKernel).size(), 40u);
  for (const size_t row : Rows(EventKind::kKernel)) {
    EXPECT_FALSE(trace_.step.is_null(row));
    for (const size_t flush : flushes) {
      EXPECT_FALSE(trace_.start_ns[row] > trace_.end_ns(flush) - 1'000 &&
                   trace_.start_ns[row] < trace_.end_ns(flush));
    }
  }
  EXPECT_EQ(trace_.header.completeness.unmatched_call, 0);
}

TEST_F(TorchTest, TheFirstTracedStepIsLikeTheOthers) {
  RunJobInto({.workload = "matmul_add",
              .variant = "eager",
              .device = "gpu0",
              .params = {{"size", "64"},
                         {"batch", "1"},
                         {"dtype", "bf16"},
                         {"bias", "2d"}},
              .traced_steps = 100});

  std::vector<int64_t> steps;
  for (const size_t row : Rows(EventKind::kStep)) {
    if (trace_.phase.at(row) == static_cast<int8_t>(Phase::kTraced)) {
      steps.push_back(trace_.duration_ns[row]);
    }
  }
  ASSERT_EQ(steps.size(), 100u);
  const int64_t first = steps[0];
  std::ranges::sort(steps);
  // Profilers that allocate in it need 6 to 50 times the median.
  EXPECT_LT(first, 3 * steps[50]);
}

}  // namespace
}  // namespace traza
