// SPDX-License-Identifier: Apache-2.0
// Which attention ran, and what it costs where it was written out in parts.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/pointwise_work.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Attention in parts has fewer kernels than this between its two products.
constexpr size_t kMaxBetween = 32;

// Attention in one kernel, by backend.
void AddFused(const FindingInput& in, std::vector<Finding>* findings) {
  Finding finding;
  WeightedNames backends;
  WeightedNames kernels;
  int64_t count = 0;
  int64_t ns = 0;
  for (const StreamWork& stream : in.streams) {
    for (const size_t row : stream.rows) {
      if (in.trace.kind[row] != EventKind::kKernel) continue;
      const KernelName& name = in.names.Of(row);
      if (name.kind != KernelKind::kAttention || name.backend.empty()) continue;
      ++count;
      ns = AddSaturating(ns, in.trace.duration_ns[row]);
      backends.Add(name.backend, in.trace.duration_ns[row]);
      kernels.Add(ShortName(name.function), in.trace.duration_ns[row]);
      AddEventId(row, &finding);
    }
  }
  if (count == 0) return;
  finding.id = "attention-backend";
  finding.severity = "info";
  finding.title = absl::StrCat(
      "Attention ran as ", backends.Text(), ": ", CountText(count, "kernel"),
      ", ", NsText(static_cast<double>(ns)), ", ", PercentText(in.Share(ns)),
      " of the device work (", kernels.Text(),
      "). The scores stay on the chip: no matrix of them is written.");
  finding.numbers["kernels"] = CountNumber(count);
  finding.numbers["kernel_time"] = NsNumber(ns);
  finding.numbers["kernel_share"] =
      RatioNumber(in.Share(ns), "time of attention", "time of device work");
  finding.suggestion =
      "Which backend is fastest depends on the device and the shapes: try the "
      "others with torch.nn.attention.sdpa_kernel.";
  findings->push_back(std::move(finding));
}

// One attention in parts: rows from the first product to the second.
struct Parts {
  std::vector<size_t> rows;
  double score_bytes = 0;  // 0: unknown
  bool estimated = false;
};

// The softmax of PyTorch that keeps rows in warps: a warp works on one row, on
// two if they are short (128 elements).
double SoftmaxElements(const FindingInput& in, size_t row) {
  const int32_t length = in.names.Of(row).softmax_row;
  const double blocks = std::max(0, in.trace.grid_x.at(row));
  const int32_t warps = in.trace.block_y.at(row);
  if (length <= 0 || warps <= 0) return 0;
  return blocks * warps * (length <= 128 ? 2 : 1) * length;
}

// The scores are what lies between the products.
void Measure(const FindingInput& in, Parts* parts) {
  for (size_t i = 1; i + 1 < parts->rows.size(); ++i) {
    const size_t row = parts->rows[i];
    const KernelName& name = in.names.Of(row);
    double bytes = 0;
    bool estimated = true;
    if (in.trace.kind[row] == EventKind::kCopy) {
      bytes = static_cast<double>(std::max<int64_t>(0, in.trace.bytes.at(row)));
      estimated = false;
    } else if (name.kind == KernelKind::kSoftmax) {
      bytes = SoftmaxElements(in, row) *
              static_cast<double>(KernelTypeBytes(name.type));
    } else if (const auto work = in.pointwise.Of(row, name)) {
      bytes = work->elements * static_cast<double>(work->element_bytes);
      estimated = work->estimated;
    }
    if (bytes > parts->score_bytes) {
      parts->score_bytes = bytes;
      parts->estimated = estimated;
    }
  }
}

// Whether the words of the name of a generated kernel, which are its fused
// operators, have these in a row: "softmax" of "to_copy__softmax_add".
bool HasWords(absl::string_view action, absl::string_view words) {
  return absl::StrContains(absl::StrCat("_", action, "_"),
                           absl::StrCat("_", words, "_"));
}

// A softmax forward, alone or with other operators in a generated kernel, but
// not that of a loss.
bool IsSoftmax(const KernelName& name) {
  return name.action == "softmax" ||
         (name.generated && HasWords(name.action, "softmax") &&
          !HasWords(name.action, "log_softmax") &&
          !HasWords(name.action, "softmax_backward"));
}

// Norms, losses, optimizers and communication are between other products, and
// so is what computes as much as a product.
bool EndsAttention(const KernelName& name) {
  if (name.kind == KernelKind::kNormalization ||
      name.kind == KernelKind::kOptimizer ||
      name.kind == KernelKind::kCommunication ||
      name.kind == KernelKind::kConvolution ||
      name.kind == KernelKind::kAttention ||
      absl::StartsWith(name.action, "log_softmax")) {
    return true;
  }
  return name.generated && (HasWords(name.action, "log_softmax") ||
                            HasWords(name.action, "layer_norm") ||
                            HasWords(name.action, "rms_norm") ||
                            HasWords(name.action, "batch_norm") ||
                            HasWords(name.action, "group_norm"));
}

bool IsSoftmaxBackward(const KernelName& name) {
  return absl::StartsWith(name.action, "softmax_backward") ||
         (name.generated && HasWords(name.action, "softmax_backward"));
}

// A product, a softmax, a product, with nothing but what scales and masks
// between them; in one step and on one stream.
std::vector<Parts> FindParts(const FindingInput& in, const StreamWork& stream) {
  std::vector<Parts> found;
  Parts open;
  bool softmax = false;
  for (const size_t row : stream.rows) {
    if (in.trace.kind[row] == EventKind::kFill) continue;
    if (IsGemm(in, row)) {
      if (softmax && in.steps.Of(open.rows.front()) == in.steps.Of(row)) {
        open.rows.push_back(row);
        Measure(in, &open);
        found.push_back(std::move(open));
      }
      open = Parts();
      open.rows = {row};
      softmax = false;
      continue;
    }
    if (open.rows.empty()) continue;
    const KernelName& name = in.names.Of(row);
    softmax = softmax || IsSoftmax(name);
    // What goes back through a softmax without a product behind it is no
    // attention.
    if (open.rows.size() > kMaxBetween || EndsAttention(name) ||
        (softmax && IsSoftmaxBackward(name))) {
      open = Parts();
      softmax = false;
      continue;
    }
    open.rows.push_back(row);
  }
  return found;
}

std::string PartName(const FindingInput& in, size_t row) {
  std::string action = WorkAction(in, row);
  if (in.trace.kind[row] != EventKind::kCopy) return action;
  const std::string path = OpPath(in.trace, row);
  return path.empty() ? action : absl::StrCat(action, " of ", path);
}

void AddInParts(const FindingInput& in, std::vector<Finding>* findings) {
  Finding finding;
  int64_t count = 0;
  int64_t between = 0;
  int64_t ns = 0;
  int64_t between_ns = 0;
  double score_bytes = 0;
  bool estimated = false;
  bool math = false;
  const int32_t math_op =
      FindName(in.trace, "aten::_scaled_dot_product_attention_math");
  WeightedNames names;
  for (const StreamWork& stream : in.streams) {
    for (const Parts& parts : FindParts(in, stream)) {
      ++count;
      if (parts.score_bytes > score_bytes) {
        score_bytes = parts.score_bytes;
        estimated = parts.estimated;
      }
      math = math || OpAround(in.trace, parts.rows.back(), math_op) != kNoEvent;
      for (size_t i = 0; i < parts.rows.size(); ++i) {
        const size_t row = parts.rows[i];
        const int64_t time = in.trace.duration_ns[row];
        ns = AddSaturating(ns, time);
        if (i > 0 && i + 1 < parts.rows.size()) {
          ++between;
          between_ns = AddSaturating(between_ns, time);
          names.Add(PartName(in, row), time);
        }
        AddEventId(row, &finding);
      }
    }
  }
  if (count == 0) return;
  constexpr size_t kShownParts = 6;
  const auto attentions = static_cast<double>(count);
  finding.id = "attention-backend";
  finding.severity = "warning";
  finding.title = absl::StrCat(
      "Attention ran in parts (", math ? "the math backend" : "written out",
      "), ", CountText(count, "time"), ": ",
      score_bytes > 0 ? absl::StrCat("the matrix of scores is in memory, ",
                                     BytesText(score_bytes),
                                     estimated ? " (estimated)" : "", ", and ")
                      : "the matrix of scores is in memory, and ",
      "between the two products run ", names.Text(kShownParts), ": ",
      NsText(static_cast<double>(between_ns) / attentions), " of ",
      NsText(static_cast<double>(ns) / attentions), ".");
  finding.numbers["attentions"] = CountNumber(count);
  finding.numbers["kernels_between"] = CountNumber(between);
  finding.numbers["attention_time"] = NsNumber(ns);
  finding.numbers["time_between"] = NsNumber(between_ns);
  finding.numbers["share_between"] = RatioNumber(
      in.Share(between_ns), "time between the products", "time of device work");
  if (score_bytes > 0) {
    finding.numbers[estimated ? "estimated_score_bytes" : "score_bytes"] =
        BytesNumber(score_bytes);
  }
  // PyTorch's own function was called already.
  finding.suggestion =
      math ? "PyTorch takes its math backend where the others are switched off "
             "(torch.nn.attention.sdpa_kernel) or do not take the inputs: "
             "flash wants half precision, and is_causal=True in place of a "
             "mask; memory-efficient takes fp32 and masks."
           : "Use scaled_dot_product_attention with is_causal=True in place of "
             "a mask, so that a fused backend can run; a mask that is filled "
             "in place (masked_fill_) at least saves the copy.";
  findings->push_back(std::move(finding));
}

}  // namespace

void AddAttentionFindings(const FindingInput& in,
                          std::vector<Finding>* findings) {
  AddInParts(in, findings);
  AddFused(in, findings);
}

}  // namespace traza
