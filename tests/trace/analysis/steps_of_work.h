// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_TRACE_ANALYSIS_STEPS_OF_WORK_H_
#define TESTS_TRACE_ANALYSIS_STEPS_OF_WORK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/answer.h"

namespace traza {

inline constexpr char kGemmKernel[] =
    "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
inline constexpr char kGeluKernel[] =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)::{lambda()#1}::"
    "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> "
    ">(int)";
inline constexpr char kMulKernel[] =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
    ">(int)";
inline constexpr char kAddKernel[] =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)";
inline constexpr char kMaskedFillKernel[] =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::"
    "masked_fill_kernel::{lambda(c10::BFloat16, bool)#1}>::{lambda(int)#1}>"
    "(int)";
inline constexpr char kSoftmaxKernel[] =
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, "
    "c10::BFloat16, float, 10, false, false>(c10::BFloat16*, int)";

// Steps of operators, each of which launches its work; 1,000 us a step.
class Steps {
 public:
  explicit Steps(int count = 3) : count_(count) {}

  struct Work {
    std::string op;
    EventKind kind = EventKind::kKernel;
    std::string name;
    int64_t ns = 0;
    int32_t blocks = 132;
    int32_t threads = 128;
    int64_t bytes = 0;
  };

  Steps& Kernel(const std::string& op, const std::string& name, int64_t ns,
                int32_t blocks = 132) {
    work_.push_back({op, EventKind::kKernel, name, ns, blocks, 128, 0});
    return *this;
  }
  Steps& Copy(const std::string& op, int64_t ns, int64_t bytes) {
    work_.push_back({op, EventKind::kCopy, "Memcpy DtoD (Device -> Device)", ns,
                     0, 0, bytes});
    return *this;
  }
  Steps& Fill(const std::string& op) {
    work_.push_back({op, EventKind::kFill, "Memset (Device)", 800, 0, 0, 4});
    return *this;
  }
  // Works in the operator of what comes before it.
  Steps& Inside() {
    work_.back().op.clear();
    return *this;
  }

  Trace Build(Header header = MakeGpuTrace(1).header) {
    int64_t id = 0;
    for (int i = 0; i < count_; ++i) AddStep(i, &id);
    header.job.traced_steps = count_;
    return builder_.Build(std::move(header));
  }
  Answer Explain(Header header = MakeGpuTrace(1).header) {
    return traza::Explain(Build(std::move(header)));
  }

  RecordBuilder& builder() { return builder_; }

 private:
  void AddStep(int number, int64_t* id) {
    const int64_t begin = number * int64_t{1'000'000};
    builder_.Step(Phase::kTraced, number, begin, begin + 999'000);
    int64_t now = begin + 1'000;
    int64_t device = begin + 20'000;
    for (size_t i = 0; i < work_.size(); ++i) {
      const Work& work = work_[i];
      size_t last = i;
      while (last + 1 < work_.size() && work_[last + 1].op.empty()) ++last;
      const auto inside = static_cast<int64_t>(last - i + 1);
      if (!work.op.empty()) builder_.Op(work.op, now, now + 100 + 200 * inside);
      builder_.Call("cudaLaunchKernel", now + 20, now + 120, ++*id);
      now += work.op.empty() || inside > 1 ? 200 : 400;
      builder_.Device(work.kind, work.name, device, device + work.ns, *id);
      device += work.ns + 500;
      RawDeviceEvent& event = builder_.records().device.back();
      if (work.kind == EventKind::kKernel) {
        event.grid[0] = work.blocks, event.grid[1] = event.grid[2] = 1;
        event.block[0] = work.threads, event.block[1] = event.block[2] = 1;
      } else {
        event.bytes = work.bytes;
        if (work.kind == EventKind::kCopy) {
          event.copy_kind = builder_.records().names.Intern("dtod");
        }
      }
      if (i == last || !work_[i + 1].op.empty()) now += 500;
    }
  }

  int count_;
  std::vector<Work> work_;
  RecordBuilder builder_;
};

inline std::vector<std::string> Ids(const Answer& answer) {
  std::vector<std::string> ids;
  for (const Finding& finding : answer.findings) ids.push_back(finding.id);
  return ids;
}

inline Finding Find(const Answer& answer, const std::string& id) {
  for (const Finding& finding : answer.findings) {
    if (finding.id == id) return finding;
  }
  ADD_FAILURE() << "no finding " << id << " in "
                << testing::PrintToString(Ids(answer));
  return {};
}

inline double NumberOf(const Finding& finding, const std::string& name) {
  const auto found = finding.numbers.find(name);
  return found == finding.numbers.end() ? -1 : found->second.value;
}

}  // namespace traza

#endif  // TESTS_TRACE_ANALYSIS_STEPS_OF_WORK_H_
