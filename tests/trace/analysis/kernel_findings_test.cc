// SPDX-License-Identifier: Apache-2.0
//
// Findings that rest on what kernels are called.
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/findings.h"

namespace traza {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

constexpr char kGemm[] = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
constexpr char kGelu[] =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)::{lambda()#1}::"
    "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> "
    ">(int)";
constexpr char kMul[] =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
    "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> "
    ">(int)";
constexpr char kAdd[] =
    "void at::native::vectorized_elementwise_kernel<8, "
    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)";
constexpr char kMaskedFill[] =
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::(anonymous namespace)::"
    "masked_fill_kernel::{lambda(c10::BFloat16, bool)#1}>::{lambda(int)#1}>"
    "(int)";
constexpr char kSoftmax[] =
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

std::vector<std::string> Ids(const Answer& answer) {
  std::vector<std::string> ids;
  for (const Finding& finding : answer.findings) ids.push_back(finding.id);
  return ids;
}

Finding Find(const Answer& answer, const std::string& id) {
  for (const Finding& finding : answer.findings) {
    if (finding.id == id) return finding;
  }
  ADD_FAILURE() << "no finding " << id << " in "
                << testing::PrintToString(Ids(answer));
  return {};
}

double NumberOf(const Finding& finding, const std::string& name) {
  const auto found = finding.numbers.find(name);
  return found == finding.numbers.end() ? -1 : found->second.value;
}

// 24,576 blocks of 128 threads with 8 elements each: 25,165,824 elements of
// 2 bytes, 50,331,648 bytes. gelu moves 2 of these, mul 3; what is between
// them is written and read once: 2 of 5. 5 x 50,331,648 B in 70,000 ns is
// 3.6 TB/s, at which 2 of them take 28,000 ns.
TEST(UnfusedPointwise, NamesTheChainItsBytesAndTheirTime) {
  const Answer answer = Steps()
                            .Kernel("aten::gelu", kGelu, 32'000, 24'576)
                            .Kernel("aten::mul", kMul, 38'000, 24'576)
                            .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(
      finding.title,
      AllOf(HasSubstr("gelu + mul run one after the other"),
            HasSubstr("101 MB of 252 MB (estimated)"),
            HasSubstr("about 28.0 us of 70.0 us"), HasSubstr("3.60 TB/s")));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"), 3 * 2 * 50'331'648.);
  EXPECT_NEAR(NumberOf(finding, "estimated_time_saved"), 3 * 28'000, 1);
  EXPECT_NEAR(NumberOf(finding, "estimated_saved_share"), 0.4, 1e-6);
  EXPECT_EQ(NumberOf(finding, "launches_saved"), 3);
  EXPECT_EQ(finding.event_ids.size(), 2u) << "the first chain";
}

TEST(UnfusedPointwise, AGatedUnitFusesAcrossItsSecondProduct) {
  const Answer answer = Steps()
                            .Kernel("aten::mm", kGemm, 50'000)
                            .Kernel("aten::gelu", kGelu, 32'000, 24'576)
                            .Kernel("aten::mm", kGemm, 50'000)
                            .Kernel("aten::mul", kMul, 38'000, 24'576)
                            .Explain();

  EXPECT_THAT(Find(answer, "unfused-pointwise").title,
              HasSubstr("gelu + mul run one after the other"));
}

TEST(UnfusedPointwise, OtherwiseAProductEndsAChain) {
  const Answer answer = Steps()
                            .Kernel("aten::mm", kGemm, 50'000)
                            .Kernel("aten::add", kAdd, 32'000, 24'576)
                            .Kernel("aten::mm", kGemm, 50'000)
                            .Kernel("aten::add", kAdd, 38'000, 24'576)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("unfused-pointwise")));
}

TEST(UnfusedPointwise, OtherSizesAreNoChain) {
  const Answer answer = Steps()
                            .Kernel("aten::gelu", kGelu, 32'000, 24'576)
                            .Kernel("aten::mul", kMul, 38'000, 24'574)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("unfused-pointwise")));
}

TEST(UnfusedPointwise, ACopyOfAsManyBytesBelongsToTheChain) {
  // 262,144 x 128 x 4 = 131,072 x 128 x 8 elements of 2 bytes.
  const Answer answer =
      Steps()
          .Kernel("aten::mul", kMul, 126'000, 131'072)
          .Copy("aten::copy_", 128'000, 268'435'456)
          .Kernel("aten::masked_fill_", kMaskedFill, 357'000, 262'144)
          .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_THAT(finding.title, HasSubstr("mul + Memcpy DtoD (Device -> Device) + "
                                       "masked_fill"));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"),
            3 * 2 * 2 * 268'435'456.);
}

// Additions of a few elements take as long as a kernel does at least.
TEST(UnfusedPointwise, KernelsTooSmallForBandwidthAreCounted) {
  Steps steps;
  for (int i = 0; i < 100; ++i) steps.Kernel("aten::add", kAdd, 1'000, 1);
  const Finding finding = Find(steps.Explain(), "unfused-pointwise");

  EXPECT_EQ(finding.severity, "warning");
  EXPECT_EQ(finding.title,
            "add x100 run one after the other on as many elements, 3 times; at "
            "1.00 us a kernel (mean) they are too small for bandwidth to "
            "matter: fused, they would be one launch in place of 100, which "
            "saves at most 99.0 us of 100 us a time.");
  EXPECT_EQ(NumberOf(finding, "chains"), 3);
  EXPECT_EQ(NumberOf(finding, "launches_saved"), 3 * 99);
  EXPECT_EQ(NumberOf(finding, "time_saved"), 3 * 99'000);
  EXPECT_NEAR(NumberOf(finding, "saved_share"), 0.99, 1e-9);
  EXPECT_THAT(finding.numbers, Not(Contains(Key("bandwidth"))));
  EXPECT_THAT(finding.numbers, Not(Contains(Key("estimated_bytes_saved"))));
}

// 64 elements each; on another GPU they take longer.
TEST(UnfusedPointwise, SmallKernelsAreSmallHoweverLongTheyTake) {
  Steps steps;
  for (int i = 0; i < 40; ++i) steps.Kernel("aten::add", kAdd, 5'000, 1);

  EXPECT_THAT(Find(steps.Explain(), "unfused-pointwise").title,
              HasSubstr("at 5.00 us a kernel (mean) they are too small"));
}

// The chain of long kernels saves most, and alone has bytes.
TEST(UnfusedPointwise, ShortChainsAddAtMostTheirTime) {
  const Answer answer = Steps()
                            .Kernel("aten::gelu", kGelu, 32'000, 24'576)
                            .Kernel("aten::mul", kMul, 38'000, 24'576)
                            .Kernel("aten::mm", kGemm, 30'000)
                            .Kernel("aten::add", kAdd, 1'000, 2)
                            .Kernel("aten::mul", kMul, 1'000, 2)
                            .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_THAT(finding.title,
              AllOf(HasSubstr("at their own 3.60 TB/s. With 1 other kind of "
                              "chain: at most 87.0 us")));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"), 3 * 2 * 50'331'648.);
  EXPECT_NEAR(NumberOf(finding, "estimated_time_saved"), 3 * 29'000, 1);
}

TEST(UnfusedPointwise, AKernelWithoutANameOfItsOwnIsItsOperator) {
  const std::string other =
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::SomethingNew<c10::BFloat16>, std::array<char*, 2ul> >(int)";
  const Answer answer = Steps()
                            .Kernel("aten::lerp_", other, 32'000, 24'576)
                            .Kernel("aten::mul", kMul, 38'000, 24'576)
                            .Kernel("my::op", other, 32'000, 24'576)
                            .Explain();

  EXPECT_THAT(Find(answer, "unfused-pointwise").title,
              HasSubstr("lerp_ + mul + my::op run one after the other"));
  EXPECT_THAT(Find(answer, "dominant-kernels").title,
              HasSubstr("(lerp_ (vectorized_elementwise_kernel), mul "
                        "(vectorized_elementwise_kernel)"));
}

// 24,576 blocks of 128 threads with 8 elements each, of which the cast reads 4
// and writes 2 bytes, and the product 2 x 2 and 2: 12 an element, 4 in vain.
TEST(UnfusedPointwise, ACastHandsOnWhatItWrites) {
  const std::string cast =
      "void at::native::vectorized_elementwise_kernel<8, "
      "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul> >(int)";
  const Answer answer = Steps()
                            .Kernel("aten::copy_", cast, 40'000, 24'576)
                            .Kernel("aten::mul", kMul, 40'000, 24'576)
                            .Explain();

  const Finding finding = Find(answer, "unfused-pointwise");
  EXPECT_THAT(finding.title, HasSubstr("fused, 101 MB of 302 MB (estimated)"));
  EXPECT_EQ(NumberOf(finding, "estimated_bytes_saved"), 3 * 4 * 25'165'824.);
}

// A change of layout copies, but not element by element.
TEST(UnfusedPointwise, ACopyIntoAnotherLayoutIsNoMember) {
  const std::string layout =
      "void cudnn::engines_precompiled::nchwToNhwcKernel<float>(int)";
  const Answer answer = Steps()
                            .Kernel("aten::cudnn_convolution", layout, 40'000)
                            .Kernel("aten::cudnn_convolution", layout, 40'000)
                            .Kernel("aten::mul", kMul, 40'000, 24'576)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("unfused-pointwise")));
}

TEST(UnfusedPointwise, AnOptimizerCanBeFusedByItself) {
  const std::string addcdiv =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::(anonymous "
      "namespace)::addcdiv_cuda_kernel(at::TensorIteratorBase&, c10::Scalar "
      "const&)::{lambda(float, float, float)#1}, std::array<char*, 4ul> >(int)";
  const auto advice = [](const std::string& second) {
    return Find(Steps()
                    .Kernel("aten::mul_", kMul, 30'000, 24'576)
                    .Kernel("aten::op", second, 30'000, 24'576)
                    .Explain(),
                "unfused-pointwise")
        .suggestion;
  };

  EXPECT_THAT(advice(addcdiv),
              AllOf(HasSubstr("fused=True"), HasSubstr("torch.compile")));
  EXPECT_THAT(advice(kAdd), Not(HasSubstr("fused=True")));
}

TEST(SmallGrid, NamesThatLookTheSameAreShownOnce) {
  const std::string apply =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<";
  const Finding finding = Find(Steps()
                                   .Kernel("a", apply + "1>(int)", 4'000, 8)
                                   .Kernel("b", apply + "2>(int)", 3'000, 8)
                                   .Kernel("c", kAdd, 2'000, 4)
                                   .Kernel("d", kMul, 1'000, 4)
                                   .Kernel("e", kGelu, 500, 4)
                                   .Explain(),
                               "small-grid");

  EXPECT_THAT(finding.title,
              HasSubstr(": multi_tensor_apply_kernel 8 blocks, add "
                        "(vectorized_elementwise_kernel) 4 blocks, mul "
                        "(vectorized_elementwise_kernel) 4 blocks, 1 more."));
  EXPECT_EQ(NumberOf(finding, "kernels"), 5);
}

TEST(SmallGrid, NamesWhatTheKernelsDo) {
  const Finding finding = Find(Steps()
                                   .Kernel("aten::mm", kGemm, 2'000, 8)
                                   .Kernel("aten::add", kAdd, 1'000, 4)
                                   .Explain(),
                               "small-grid");

  EXPECT_THAT(finding.title,
              HasSubstr("add (vectorized_elementwise_kernel) 4 blocks"));
}

TEST(CopyBeforeGemm, ATwoDimensionalBiasIsCopiedFirst) {
  const Answer answer = Steps()
                            .Copy("aten::addmm", 15'000, 33'554'432)
                            .Fill("")
                            .Kernel("", kGemm, 178'000)
                            .Explain();

  const Finding finding = Find(answer, "copy-before-gemm");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title, HasSubstr("3 matrix products of aten::addmm copy "
                                       "what is added into the output first: "
                                       "32.0 MiB a time, 45.0 us in all"));
  EXPECT_EQ(NumberOf(finding, "copy_bytes"), 3 * 33'554'432.);
  EXPECT_EQ(finding.event_ids.size(), 6u) << "each copy and its product";
  EXPECT_THAT(Ids(answer), Not(Contains("epilogue-fused")));
}

TEST(CopyBeforeGemm, ACopyOfAnotherOperatorIsNone) {
  const Answer answer = Steps()
                            .Copy("aten::clone", 15'000, 33'554'432)
                            .Kernel("aten::addmm", kGemm, 178'000)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("copy-before-gemm")));
  EXPECT_THAT(Find(answer, "epilogue-fused").title,
              HasSubstr("3 matrix products add their bias in the end"));
}

TEST(CopyBeforeGemm, AProductThatAddsNothingHasNone) {
  const Answer answer = Steps()
                            .Copy("aten::mm", 15'000, 33'554'432)
                            .Kernel("", kGemm, 178'000)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("copy-before-gemm")));
}

TEST(Layout, LettersAreSaidInWords) {
  const Finding finding = Find(
      Steps()
          .Kernel("aten::mm", kGemm, 50'000)
          .Kernel("aten::mm", "ampere_bf16_s16816gemm_bf16_128x128_tn", 50'000)
          .Explain(),
      "layout");

  EXPECT_THAT(finding.title, AllOf(HasSubstr("3 nn (both operands as they lie"),
                                   HasSubstr("3 tn (the second operand "
                                             "transposed in place")));
  EXPECT_EQ(NumberOf(finding, "time_nn"), 150'000);
}

TEST(SameGpuWork, OperatorsThatShareAKernelAreNamed) {
  const Finding finding = Find(Steps()
                                   .Kernel("aten::mm", kGemm, 50'000)
                                   .Kernel("aten::addmm", kGemm, 50'000)
                                   .Explain(),
                               "same-gpu-work");

  EXPECT_THAT(finding.title,
              HasSubstr("aten::mm, aten::addmm run the same kernel"));
  EXPECT_EQ(NumberOf(finding, "launches"), 6);
}

TEST(DtypeUpcast, AFloatKernelInAStepOfHalvesIsToldASoftmaxIsNot) {
  const char* cast =
      "void at::native::unrolled_elementwise_kernel<"
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
      "{lambda(float)#1}, std::array<char*, 2ul>, 4, "
      "at::native::memory::LoadWithCast<1> >(int)";
  const Finding finding = Find(Steps()
                                   .Kernel("aten::mm", kGemm, 150'000)
                                   .Kernel("aten::_softmax", kSoftmax, 40'000)
                                   .Kernel("aten::copy_", cast, 10'000)
                                   .Explain(),
                               "dtype-upcast");

  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title,
              HasSubstr("Matrix products run in bf16, but 3 "
                        "kernels work on fp32, 30.0 us, 5.00 %"));
  EXPECT_EQ(NumberOf(finding, "casts"), 3);
}

TEST(DtypeUpcast, AStepWithoutProductsIsToldByWhatItHas) {
  constexpr char kHalfConvolution[] =
      "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
      "tilesize128x128x64_warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__"
      "5x_cudnn";
  constexpr char kFloatAdd[] =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)";
  const Finding finding =
      Find(Steps()
               .Kernel("aten::cudnn_convolution", kHalfConvolution, 90'000)
               .Kernel("aten::add", kFloatAdd, 10'000)
               .Explain(),
           "dtype-upcast");

  EXPECT_THAT(finding.title, HasSubstr("Convolutions run in bf16, but 3 "
                                       "kernels work on fp32"));
}

TEST(DtypeUpcast, WhatCudnnSumsInFp32IsNoneButItsNormsAre) {
  const Answer norm =
      Steps()
          .Kernel("aten::mm", kGemm, 90'000)
          .Kernel("aten::cudnn_batch_norm",
                  "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, "
                  "512, true, 1, true>(float*)",
                  10'000)
          .Explain();
  EXPECT_THAT(Ids(norm), Contains("dtype-upcast"));

  const Answer answer =
      Steps()
          .Kernel("aten::mm", kGemm, 90'000)
          .Kernel("aten::_cudnn_attention_forward",
                  "void cudnn::fusion::lean_reduction_kernel<float>(float*)",
                  10'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("dtype-upcast")));
}

TEST(DtypeUpcast, AStepInFp32HasNone) {
  const Answer answer =
      Steps()
          .Kernel("aten::mm", "ampere_sgemm_128x64_nn", 100'000)
          .Kernel("aten::add",
                  "void at::native::vectorized_elementwise_kernel<4, "
                  "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
                  ">(int)",
                  10'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("dtype-upcast")));
}

TEST(TensorCoresUnused, NeedsADeviceThatHasThem) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = "9.0";
  Steps steps;
  steps.Kernel("aten::mm", "ampere_sgemm_128x64_nn", 100'000);
  const Finding finding = Find(steps.Explain(header), "tensor-cores-unused");
  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(finding.title, HasSubstr("3 matrix kernels do without the tensor "
                                       "cores of the device, 300 us, 100 %"));

  header.device.compute_capability = "6.1";
  Steps old;
  old.Kernel("aten::mm", "maxwell_sgemm_128x64_nn", 100'000);
  EXPECT_THAT(Ids(old.Explain(header)), Not(Contains("tensor-cores-unused")));
}

TEST(AttentionBackend, PartsAreToldWithTheScoresAndTheCopyOfTheMask) {
  // 8 x 16 x 1024 x 1024 scores of 2 bytes.
  Steps steps;
  steps.Kernel("aten::bmm", kGemm, 83'000)
      .Kernel("aten::mul", kMul, 126'000, 131'072)
      .Copy("aten::masked_fill", 128'000, 268'435'456)
      .Kernel("aten::masked_fill_", kMaskedFill, 357'000, 262'144)
      .Kernel("aten::_softmax", kSoftmax, 283'000, 32'768)
      .Kernel("aten::bmm", kGemm, 84'000);
  const Finding finding = Find(steps.Explain(), "attention-backend");

  EXPECT_EQ(finding.severity, "warning");
  EXPECT_THAT(
      finding.title,
      AllOf(HasSubstr("Attention ran in parts (written out), 3 times"),
            HasSubstr("256 MiB"), HasSubstr("masked_fill"),
            HasSubstr("Memcpy DtoD (Device -> Device) of aten::masked_fill")));
  EXPECT_EQ(NumberOf(finding, "kernels_between"), 12);
  EXPECT_EQ(NumberOf(finding, "time_between"), 3 * 894'000.);
}

TEST(AttentionBackend, TheMathBackendIsNotToldToCallWhatWasCalled) {
  const char* math = "aten::_scaled_dot_product_attention_math";
  const Finding finding = Find(Steps()
                                   .Kernel(math, kGemm, 83'000)
                                   .Kernel(math, kSoftmax, 283'000, 32'768)
                                   .Kernel(math, kGemm, 84'000)
                                   .Explain(),
                               "attention-backend");

  EXPECT_THAT(finding.title, HasSubstr("(the math backend)"));
  EXPECT_THAT(finding.suggestion,
              AllOf(HasSubstr("torch.nn.attention.sdpa_kernel"),
                    Not(HasSubstr("masked_fill"))));
}

TEST(AttentionBackend, FusedOnesAreNamed) {
  const Finding finding =
      Find(Steps()
               .Kernel("aten::_flash_attention_forward",
                       "void pytorch_flash::flash_fwd_kernel<int>(int)", 95'000)
               .Explain(),
           "attention-backend");

  EXPECT_EQ(finding.severity, "info");
  EXPECT_THAT(finding.title, HasSubstr("Attention ran as flash: 3 kernels"));
}

// What to try where this kernel is all that runs.
std::string AdviceFor(const std::string& kernel,
                      const std::optional<std::string>& capability) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = capability;
  header.device.multiprocessor.reset();
  Steps steps;
  steps.Kernel("aten::mm", kernel, 100'000);
  return Find(steps.Explain(header), "tensor-cores-unused").suggestion;
}

TEST(TensorCoresUnused, TheAdviceIsWhatTheDeviceCanTake) {
  for (const char* capability : {"7.0", "7.5"}) {
    EXPECT_THAT(AdviceFor("volta_sgemm_128x64_nn", capability),
                AllOf(HasSubstr("torch.float16"),
                      Not(HasSubstr("set_float32_matmul_precision"))))
        << capability;
  }
  EXPECT_THAT(AdviceFor("volta_dgemm_128x64_nn_simt", "7.0"),
              HasSubstr("torch.float16"));
  EXPECT_THAT(AdviceFor("ampere_sgemm_128x64_nn", "8.0"), HasSubstr("TF32"));
  EXPECT_THAT(AdviceFor("volta_fp16_sgemm_fp16_128x64_nn", "7.0"),
              HasSubstr("multiples of 8"));
}

TEST(TensorCoresUnused, TheMathBackendOfAttentionIsWhyItRunsInFp32) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = "9.0";
  header.device.multiprocessor.reset();
  Steps steps;
  steps.Kernel("aten::_scaled_dot_product_attention_math",
               "ampere_sgemm_128x64_nn", 100'000);

  EXPECT_THAT(Find(steps.Explain(header), "tensor-cores-unused").suggestion,
              HasSubstr("math backend of attention"));
}

// What the forward pass does decides how the backward pass multiplies.
TEST(TensorCoresUnused, TheMathBackendIsTheReasonOfItsBackwardPassToo) {
  Header header = MakeGpuTrace(1).header;
  header.device.compute_capability = "9.0";
  header.device.multiprocessor.reset();
  Steps both;
  both.Kernel("aten::_scaled_dot_product_attention_math",
              "ampere_sgemm_128x64_nn", 100'000)
      .Kernel("autograd::engine::evaluate_function: BmmBackward0",
              "ampere_sgemm_128x64_nt", 100'000);
  Steps backward;
  backward.Kernel("autograd::engine::evaluate_function: BmmBackward0",
                  "ampere_sgemm_128x64_nt", 100'000);

  EXPECT_THAT(Find(both.Explain(header), "tensor-cores-unused").suggestion,
              HasSubstr("math backend of attention"));
  EXPECT_THAT(Find(backward.Explain(header), "tensor-cores-unused").suggestion,
              Not(HasSubstr("math backend of attention")));
}

TEST(TensorCoresUnused, KernelsTellWhatADeviceIsThatNobodyKnows) {
  EXPECT_THAT(AdviceFor("volta_sgemm_128x64_nn", std::nullopt),
              HasSubstr("torch.float16"));
  EXPECT_THAT(AdviceFor("ampere_sgemm_128x64_nn", std::nullopt),
              HasSubstr("TF32"));
}

// One kernel between two products.
std::vector<std::string> FindingsOfBetween(const std::string& kernel) {
  return Ids(Steps()
                 .Kernel("aten::bmm", kGemm, 60'000)
                 .Kernel("CompiledFunction", kernel, 100'000)
                 .Kernel("aten::bmm", kGemm, 60'000)
                 .Explain());
}

TEST(AttentionBackend, ACompilerFusesOtherOperatorsIntoItsSoftmax) {
  for (const char* name : {"triton_per_fused__softmax_0",
                           "triton_per_fused__softmax_masked_fill_mul_0",
                           "triton_red_fused__softmax_div_0",
                           "triton_red_fused__to_copy__softmax_add_2",
                           "triton_per_fused__safe_softmax_add_1"}) {
    EXPECT_THAT(FindingsOfBetween(name), Contains("attention-backend")) << name;
  }
}

TEST(AttentionBackend, LossesNormsAndBackwardOfACompilerAreNone) {
  for (const char* name :
       {"triton_red_fused__log_softmax_nll_loss_forward_0",
        "triton_per_fused__softmax_backward_data_mul_0",
        "triton_per_fused__softmax_native_layer_norm_0",
        "triton_poi_fused_softmaxish_0", "triton_poi_fused_gelu_0"}) {
    EXPECT_THAT(FindingsOfBetween(name), Not(Contains("attention-backend")))
        << name;
  }
}

TEST(AttentionBackend, AProductThatAnotherDeviceWaitsForIsOfSomethingElse) {
  const Answer answer =
      Steps()
          .Kernel("aten::mm", kGemm, 60'000)
          .Kernel("c10d::allreduce_",
                  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 50'000)
          .Kernel("aten::_softmax", kSoftmax, 100'000)
          .Kernel("aten::mm", kGemm, 60'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("attention-backend")));
}

TEST(AttentionBackend, ALossBetweenProductsIsNoAttention) {
  const Answer answer =
      Steps()
          .Kernel("aten::mm", kGemm, 83'000)
          .Kernel("aten::_log_softmax",
                  "void softmax_warp_forward<float, float, float, 10, true, "
                  "false>(int)",
                  10'000)
          .Kernel("aten::mm", kGemm, 84'000)
          .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("attention-backend")));
}

TEST(DominantKernels, OptimizersAreNamedWithTheirOperators) {
  const Finding finding =
      Find(Steps()
               .Kernel("aten::_foreach_lerp_",
                       "void at::native::(anonymous namespace)::"
                       "multi_tensor_apply_kernel<int>(int)",
                       60'000)
               .Kernel("aten::mm", kGemm, 40'000)
               .Explain(),
           "dominant-kernels");

  EXPECT_THAT(finding.title,
              HasSubstr("optimizer steps 60.0 % (multi_tensor_apply_kernel in "
                        "aten::_foreach_lerp_), matrix products 40.0 %"));
  EXPECT_NEAR(NumberOf(finding, "share_optimizer"), 0.6, 1e-9);
  EXPECT_NEAR(NumberOf(finding, "share_gemm"), 0.4, 1e-9);
  EXPECT_NEAR(NumberOf(finding, "kernel_1_share"), 0.6, 1e-9);
  EXPECT_EQ(NumberOf(finding, "kernel_1_launches"), 3);
}

TEST(MetadataOnlyOp, NestedOnesTakeTheirTimeOnce) {
  Steps steps(1);
  steps.Kernel("aten::mm", kGemm, 50'000);
  steps.builder()
      .Op("aten::t", 900'000, 910'000)
      .Op("aten::transpose", 902'000, 908'000);
  const Finding finding = Find(steps.Explain(), "metadata-only-op");

  EXPECT_EQ(NumberOf(finding, "operators"), 2);
  EXPECT_EQ(NumberOf(finding, "cpu_time"), 10'000);
  EXPECT_THAT(finding.title, HasSubstr("2 operators a step launch nothing"));
}

TEST(MetadataOnlyOp, AReshapeThatCopiesIsNone) {
  const Answer answer = Steps()
                            .Copy("aten::reshape", 15'000, 1 << 20)
                            .Kernel("aten::mm", kGemm, 50'000)
                            .Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("metadata-only-op")));
}

constexpr char kToNhwc[] =
    "void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float, "
    "false, true>(int)";
constexpr char kToNchw[] =
    "void cudnn::engines_precompiled::nhwcToNchwKernel<float, float, float, "
    "true, false>(int)";

TEST(LayoutConversion, WhatComesFirstTellsWhatTheConvolutionWasGiven) {
  Steps contiguous;
  contiguous.Kernel("aten::cudnn_convolution", kToNhwc, 2'000)
      .Kernel("aten::mm", kGemm, 94'000)
      .Kernel("aten::cudnn_convolution", kToNchw, 4'000);
  const Finding last = Find(contiguous.Explain(), "layout-conversion");
  Steps channels_last;
  channels_last.Kernel("aten::cudnn_convolution", kToNchw, 2'000)
      .Kernel("aten::mm", kGemm, 96'000)
      .Kernel("aten::cudnn_convolution", kToNhwc, 2'000);
  const Finding first = Find(channels_last.Explain(), "layout-conversion");

  EXPECT_EQ(last.severity, "warning");
  EXPECT_EQ(NumberOf(last, "kernels"), 6);
  EXPECT_EQ(NumberOf(last, "conversion_time"), 18'000);
  EXPECT_EQ(NumberOf(last, "conversion_share"), 0.06);
  EXPECT_THAT(last.suggestion, HasSubstr("torch.channels_last"));
  EXPECT_EQ(first.severity, "info");
  EXPECT_THAT(first.title, HasSubstr("given channels side by side (NHWC)"));
  EXPECT_THAT(first.suggestion, HasSubstr("Leave images and weights"));
}

// A recording may begin inside of a convolution.
TEST(LayoutConversion, TheMoreFrequentWayTells) {
  Steps steps;
  steps.Kernel("aten::cudnn_convolution", kToNchw, 4'000);
  for (int i = 0; i < 3; ++i) {
    steps.Kernel("aten::cudnn_convolution", kToNhwc, 4'000)
        .Kernel("aten::cudnn_convolution", kToNhwc, 1'000)
        .Kernel("aten::mm", kGemm, 94'000)
        .Kernel("aten::cudnn_convolution", kToNchw, 4'000);
  }

  EXPECT_THAT(Find(steps.Explain(), "layout-conversion").title,
              HasSubstr("given channels apart (NCHW)"));
}

TEST(LayoutConversion, IsNotFoundBelowOnePercent) {
  Steps steps;
  steps.Kernel("aten::cudnn_convolution", kToNhwc, 900)
      .Kernel("aten::mm", kGemm, 99'100);

  EXPECT_THAT(steps.Explain().findings,
              Not(Contains(Field(&Finding::id, "layout-conversion"))));
}

TEST(CompiledRegion, SaysWhyThereAreNoOperators) {
  Steps steps(2);
  steps.Kernel("aten::mm", kGemm, 50'000);
  steps.builder().Range("compiled_region", 500, 5'000);
  const Finding finding = Find(steps.Explain(), "compiled-region");

  EXPECT_EQ(NumberOf(finding, "compiled_calls"), 1);
  EXPECT_EQ(NumberOf(finding, "device_time"), 50'000);
  EXPECT_THAT(finding.title, HasSubstr("50 % of the device's work"));
  EXPECT_THAT(finding.title,
              HasSubstr("bypasses PyTorch's dispatcher, so inside only what "
                        "allocates or views has operator rows"));
}

TEST(CompiledRegion, IsNotFoundWhereNothingWasCompiled) {
  const Answer answer = Steps(2).Kernel("aten::mm", kGemm, 50'000).Explain();

  EXPECT_THAT(Ids(answer), Not(Contains("compiled-region")));
}

TEST(GraphReplayed, NodesAreCountedByTheirLaunch) {
  RecordBuilder builder;
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * int64_t{100'000};
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .Call("cudaGraphLaunch", at + 1'000, at + 21'000, i + 1)
        .Kernel(kGemm, at + 30'000, at + 60'000, i + 1)
        .Kernel(kGelu, at + 61'000, at + 80'000, i + 1);
  }
  const Answer answer = Explain(builder.Build(MakeGpuTrace(1).header));

  const Finding finding = Find(answer, "graph-replayed");
  EXPECT_THAT(finding.title,
              HasSubstr("3 launches of a CUDA graph replay 2 nodes each: 100 % "
                        "of the device work for 20.0 us of a call"));
  EXPECT_EQ(NumberOf(finding, "nodes_per_launch"), 2);
  EXPECT_EQ(answer.breakdown[0].launches->launches, 3)
      << "one launch each, though the nodes do not name their graph";
  EXPECT_THAT(Ids(answer), Not(Contains("graph-candidate")));
}

TEST(DeviceState, WhatWasSeenIsAFinding) {
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";
  header.state_before = DeviceState{.clock_hz = 1'980'000'000,
                                    .throttle_reasons = {"none"},
                                    .other_processes = 0};
  header.state_after = DeviceState{.clock_hz = 1'200'000'000,
                                   .throttle_reasons = {"hw_thermal_slowdown"},
                                   .other_processes = 2};
  Steps steps;
  steps.Kernel("aten::mm", kGemm, 50'000);
  const Answer answer = steps.Explain(header);

  const Finding throttled = Find(answer, "throttled");
  EXPECT_THAT(throttled.title, HasSubstr("hw_thermal_slowdown"));
  EXPECT_EQ(NumberOf(throttled, "clock_after"), 1.2e9);
  EXPECT_EQ(NumberOf(Find(answer, "contended"), "other_processes"), 2);
}

TEST(DeviceState, WhatNobodySawIsNone) {
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";
  Steps steps;
  steps.Kernel("aten::mm", kGemm, 50'000);
  const Answer answer = steps.Explain(header);

  EXPECT_THAT(Ids(answer), Not(Contains("throttled")));
  EXPECT_THAT(Ids(answer), Not(Contains("contended")));
}

}  // namespace
}  // namespace traza
