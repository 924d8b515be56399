// SPDX-License-Identifier: Apache-2.0
// attention: softmax(q k^T / sqrt(D), causal) v in seven ways. The first two
// build it from operators, with a mask that was made once, and the third is the
// first one compiled; the others leave it to scaled_dot_product_attention with
// exactly one backend allowed.

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ATen/Context.h"
#include "ATen/core/Tensor.h"
#include "ATen/ops/masked_fill.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/scaled_dot_product_attention.h"
#include "ATen/ops/softmax.h"
#include "ATen/ops/triu.h"
#include "ATen/record_function.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "c10/core/InferenceMode.h"
#include "c10/util/Exception.h"

#include "workloads/compiled.h"
#include "workloads/registry.h"
#include "workloads/schema.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

// PyTorch says in warnings why each backend is not used.
class WarningTexts : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    // Each reason is preceded by the name of its backend, and those that were
    // not asked for are said to be disabled.
    if (!absl::StrContains(warning.msg(), "disabled")) {
      texts_.push_back(warning.msg());
    }
  }
  std::string Joined() const { return absl::StrJoin(texts_, " "); }

 private:
  std::vector<std::string> texts_;
};

// One backend only: process-wide, for the rest of it.
void AllowOnly(const std::string& backend) {
  at::Context& context = at::globalContext();
  context.setSDPUseMath(backend == "math");
  context.setSDPUseFlash(backend == "flash");
  context.setSDPUseMemEfficient(backend == "efficient");
  context.setSDPUseCuDNN(backend == "cudnn");
}

bool IsFused(const std::string& variant) {
  return variant != "naive" && variant != "inplace" &&
         variant != kCompiledVariant;
}

class Attention : public Workload {
 public:
  explicit Attention(const WorkloadArgs& args) : variant_(args.variant) {
    SeedGenerators(args);
    const int64_t seq = args.params.Int("seq");
    const int64_t head_dim = args.params.Int("head_dim");
    const auto random = [&] {
      return RandomTensor(
          args,
          {args.params.Int("batch"), args.params.Int("heads"), seq, head_dim},
          1);
    };
    q_ = random();
    k_ = random();
    v_ = random();
    if (IsFused(variant_)) {
      AllowOnly(variant_);
      return;
    }
    const c10::InferenceMode inference;
    scale_ = Number(1 / std::sqrt(static_cast<double>(head_dim)));
    mask_ = at::triu(at::ones({seq, seq}, q_.options().dtype(at::kBool)), 1);
  }

  void Step() override {
    const c10::InferenceMode inference;
    if (IsFused(variant_)) {
      RECORD_USER_SCOPE("sdpa_fwd");
      RunFused();
    } else {
      RECORD_USER_SCOPE("attn_fwd");
      RunComposed();
    }
  }

  OutputSummary Output() const override { return Summarize(output_); }

  // What is composed takes, in the order of StepOf().
  std::vector<at::Tensor> inputs() const { return {q_, k_, v_, mask_}; }

 private:
  void RunComposed() {
    const at::Scalar hidden(-std::numeric_limits<double>::infinity());
    at::Tensor scores = at::mul(at::matmul(q_, k_.transpose(-2, -1)), scale_);
    if (variant_ == "naive") {
      scores = at::masked_fill(scores, mask_, hidden);
    } else {
      scores.masked_fill_(mask_, hidden);
    }
    output_ = at::matmul(at::softmax(scores, -1), v_);
  }

  void RunFused() {
    try {
      Call();
    } catch (const c10::Error& error) {
      const std::string text = error.what_without_backtrace();
      // It has several words for that no backend is left.
      if (!absl::StrContains(text, "No available kernel") &&
          !absl::StrContains(text, "No viable backend") &&
          !absl::StrContains(text, "Invalid backend")) {
        throw;
      }
      throw WorkloadUnavailable(
          absl::StrCat("The backend ", variant_,
                       " cannot compute this attention: ", AskWhy()));
    }
  }

  void Call() {
    output_ = at::scaled_dot_product_attention(q_, k_, v_, {}, 0,
                                               /*is_causal=*/true);
  }

  // Calls it again with open ears.
  std::string AskWhy() {
    WarningTexts warnings;
    const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
    try {
      Call();
    } catch (const c10::Error&) {
      const std::string why = warnings.Joined();
      return why.empty() ? KnownLimit() : why;
    }
    return "it did at the second try.";
  }

  // PyTorch does not always say. Limits of its 2.11.
  std::string KnownLimit() const {
    constexpr int64_t kMostHead = 256;
    const int64_t head_dim = q_.size(-1);
    const bool half =
        q_.scalar_type() == at::kHalf || q_.scalar_type() == at::kBFloat16;
    if (variant_ != "efficient" && !half) {
      return "because it takes fp16 and bf16 only.";
    }
    if (variant_ != "efficient" && head_dim > kMostHead) {
      return absl::StrCat("because it takes heads of at most ", kMostHead,
                          " elements, and these have ", head_dim, ".");
    }
    // Flash is given padded heads.
    if (variant_ != "flash" && head_dim % 8 != 0) {
      return absl::StrCat(
          "because it takes heads of a multiple of 8 elements, "
          "and these have ",
          head_dim, ".");
    }
    return "PyTorch does not say why.";
  }

  const std::string variant_;
  at::Tensor q_, k_, v_, mask_, scale_, output_;
};

using Exponents = std::map<std::string, int>;

const Exponents kInputs = {
    {"batch", 1}, {"heads", 1}, {"seq", 1}, {"head_dim", 1}};
const Exponents kScores = {{"batch", 1}, {"heads", 1}, {"seq", 2}};
const Exponents kProducts = {
    {"batch", 1}, {"heads", 1}, {"seq", 2}, {"head_dim", 1}};

Exponents InBytes(Exponents elements) {
  elements["dtype"] = 1;
  return elements;
}

CostTerm Of(const std::string& variant, double coefficient,
            const Exponents& exponents = {}) {
  return Term(coefficient, exponents, {{"variant", variant}});
}

Cost CostOfStep() {
  Cost cost;
  // Two products of every pair of positions, and their scaling; what is fused
  // leaves out the pairs that the mask hides, which are half of them.
  cost.flops = {Of("naive", 4, kProducts),     Of("naive", 1, kScores),
                Of("inplace", 4, kProducts),   Of("inplace", 1, kScores),
                Of("compiled", 4, kProducts),  Of("compiled", 1, kScores),
                Of("math", 4, kProducts),      Of("math", 1, kScores),
                Of("math", 2, kInputs),        Of("flash", 2, kProducts),
                Of("efficient", 2, kProducts), Of("cudnn", 2, kProducts)};
  // Read q, k and v once, write the result once.
  cost.bytes = {Term(4, InBytes(kInputs))};
  // Those, and the result of the step before. Composed: the scores, scaled,
  // masked and as weights, three of them at a time, and the mask; compiled, the
  // scores and the weights. Math computes in fp32, with copies of q, k and v.
  cost.memory_bytes = {
      Term(5, InBytes(kInputs)),       Of("compiled", 2, InBytes(kScores)),
      Of("compiled", 1, {{"seq", 2}}), Of("naive", 3, InBytes(kScores)),
      Of("naive", 1, {{"seq", 2}}),    Of("inplace", 2, InBytes(kScores)),
      Of("inplace", 1, {{"seq", 2}}),  Of("math", 12, kScores),
      Of("math", 4, {{"seq", 2}}),     Of("math", 16, kInputs)};
  // The range included, and of what is compiled nothing but its region. Math
  // converts what is not fp32; where a CPU multiplies fp16 matrices, it does so
  // one by one, with three views each.
  cost.ops = {Of("naive", 46),
              Of("inplace", 37),
              Of("compiled", 2),
              Of("math", 64),
              Of("flash", 20),
              Of("efficient", 20),
              Of("cudnn", 20),
              Term(18, {}, {{"variant", "math"}, {"dtype", "!fp32"}})};
  for (const char* composed : {"naive", "inplace"}) {
    const Conditions one_by_one = {
        {"variant", composed}, {"dtype", "fp16"}, {"device", "cpu"}};
    cost.ops.push_back(Term(18, {{"batch", 1}, {"heads", 1}}, one_by_one));
    cost.ops.push_back(Term(-4, {}, one_by_one));
  }
  // With the copy of naive. On Hopper a product fills its workspace first.
  cost.kernels = {Of("naive", 7),   Of("inplace", 6),   Of("math", 20),
                  Of("flash", 1),   Of("efficient", 1), Of("cudnn", 2),
                  Of("compiled", 4)};
  return cost;
}

std::vector<VariantSchema> Variants() {
  std::vector<VariantSchema> variants = {
      Variant("naive", "Operator by operator; the mask is filled into a copy."),
      Variant("inplace", "The same, the mask is filled in place."),
      CompiledVariant(),
      Variant("math", "scaled_dot_product_attention, composed of operators."),
      Variant("flash", "scaled_dot_product_attention, FlashAttention only."),
      Variant("efficient",
              "scaled_dot_product_attention, memory-efficient kernel only.",
              "PyTorch has the memory-efficient kernel for GPUs only."),
      Variant("cudnn", "scaled_dot_product_attention, cuDNN only.",
              "cuDNN is NVIDIA's library for GPUs."),
  };
  for (VariantSchema& variant : variants) {
    if (IsFused(variant.name)) variant.range = "sdpa_fwd";
  }
  return variants;
}

// The shapes of the published runs, which are the defaults: elsewhere libraries
// may split a sum or a row among several kernels, or pad.
const Conditions kPublished = {
    {"batch", "8"}, {"heads", "16"}, {"seq", "1024"}, {"head_dim", "64"}};

void ExpectComposed(const std::string& variant,
                    std::vector<Expectation>* expectations) {
  const auto add = [&](const char* expr, const char* why) {
    expectations->push_back(Anywhere(variant, expr, why));
  };
  constexpr char kWhy[] = "Product, scaling, masking, softmax, product.";
  expectations->push_back(
      OnGpu(variant, "kernels_per_step == 5", kWhy, kPublished));
  expectations->push_back(OnGpu(variant, "kernels_per_step >= 5", kWhy));
  add("ops_per_step(aten::matmul) == 2", "q k^T, and the weights times v.");
  add("ops_per_step(aten::bmm) == 2", "Each is a batched product.");
  add("ops_per_step(aten::mul) == 1", "The scaling is an operator of its own.");
  add("ops_per_step(aten::softmax) == 1", "It is called once.");
  add("ops_per_step(aten::masked_fill_) == 1",
      "Out of place too the filling itself is in place, in a copy.");
}

std::vector<Expectation> Expectations() {
  std::vector<Expectation> all = {
      Anywhere("", "stable", "Every step does the same work.")};
  ExpectComposed("naive", &all);
  ExpectComposed("inplace", &all);
  all.insert(
      all.end(),
      {OnGpu("naive", "copies_per_step(dtod) == 1",
             "masked_fill clones the scores before it fills them."),
       Anywhere("naive", "ops_per_step(aten::clone) == 1",
                "masked_fill clones the scores before it fills them."),
       OnGpu("inplace", "copies_per_step == 0", "Nothing is cloned."),
       Anywhere("inplace", "ops_per_step(aten::clone) == 0",
                "Nothing is cloned."),
       OnGpu("math", "kernels_per_step >= 10",
             "The mask is built in every step, and fp16 and bf16 are converted "
             "to fp32 and back."),
       OnGpu("math", "kernels_per_step(/(triu|tril)/) >= 1",
             "The causal mask is built in every step."),
       Anywhere("math",
                "ops_per_step(aten::_scaled_dot_product_attention_math) == 1",
                "No other backend is allowed."),
       Anywhere("math", "ops_per_step(aten::_safe_softmax) == 1",
                "Rows that are masked as a whole must not become NaN."),
       OnGpu("flash", "kernels_per_step == 1", "All of it is one kernel.",
             kPublished),
       OnGpu("flash", "kernels_per_step(/flash/) >= 1",
             "The kernel's name tells the backend; few or short rows are split "
             "along the keys, and a second kernel combines the parts."),
       OnGpu("flash", "ops_per_step(aten::transpose) == 4",
             "The kernel wants the heads behind the positions: q, k, v and the "
             "result."),
       OnGpu("efficient", "kernels_per_step == 1", "All of it is one kernel.",
             kPublished),
       OnGpu("efficient", "kernels_per_step(/fmha/) >= 1",
             "The kernel's name tells the backend."),
       OnGpu("efficient", "ops_per_step(aten::transpose) == 4",
             "The kernel wants the heads behind the positions: q, k, v and the "
             "result."),
       OnGpu("cudnn", "kernels_per_step == 1", "All of it is one kernel.",
             kPublished),
       OnGpu("cudnn", "kernels_per_step(/cudnn/) >= 1",
             "The kernel's name tells the backend."),
       OnGpu("cudnn", "ops_per_step(aten::transpose) == 0",
             "cuDNN takes strides as they are.")});
  all.insert(all.end(),
             {OnGpu(kCompiledVariant, "kernels_per_step <= 4",
                    "Scaling, mask and softmax are fused between the two "
                    "products.",
                    kPublished),
              OnGpu(kCompiledVariant, "copies_per_step == 0",
                    "The mask is applied where the softmax reads the scores; "
                    "they still go through memory.")});
  for (const char* fused : {"flash", "efficient", "cudnn"}) {
    all.push_back(
        OnGpu(fused, "copies_per_step == 0", "The scores never reach memory."));
  }
  return all;
}

CompiledStep StepOf(const ParamValues& params) {
  const std::string& dtype = params.Choice("dtype");
  const int64_t seq = params.Int("seq");
  const std::vector<int64_t> shape = {params.Int("batch"), params.Int("heads"),
                                      seq, params.Int("head_dim")};
  return {"attention",
          {{"q", shape, dtype},
           {"k", shape, dtype},
           {"v", shape, dtype},
           {"mask", {seq, seq}, "bool"}}};
}

}  // namespace

WorkloadEntry AttentionEntry() {
  WorkloadSchema schema;
  schema.name = "attention";
  schema.title = "Causal attention: softmax(q k^T / sqrt(D)) v.";
  schema.range = "attn_fwd";
  schema.shows =
      "What an out-of-place operator costs (one copy of all scores), what "
      "composing costs against one fused kernel, what a compiler saves in "
      "between (it fuses the softmax, but the scores still go through memory), "
      "and how to tell from names which backend ran.";
  schema.variants = Variants();
  schema.params = {
      SizeParam("batch", "Sequences.", "sequences", 65536, 8, 1),
      SizeParam("heads", "Heads of each sequence.", "heads", 1024, 16, 4),
      SizeParam("seq", "Positions of each sequence.", "positions", 1 << 20,
                1024, 128),
      SizeParam("head_dim", "Width of a head (D).", "elements", 8192, 64, 64),
      DtypeParam()};
  schema.cost = CostOfStep();
  schema.expectations = Expectations();
  return {std::move(schema),
          [](const WorkloadArgs& args) -> std::unique_ptr<Workload> {
            auto eager = std::make_unique<Attention>(args);
            if (args.variant != kCompiledVariant) return eager;
            return MakeCompiled(args, StepOf(args.params), "attn_fwd",
                                eager->inputs());
          },
          StepOf};
}

}  // namespace traza
