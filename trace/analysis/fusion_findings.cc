// SPDX-License-Identifier: Apache-2.0
// Chains of kernels that work element by element and that one kernel could do.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/pointwise_work.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Chosen: what fusing would save of the time of device work, from where it is
// told, and from where it is more than good to know.
constexpr double kMinSaving = 0.01;
constexpr double kWarningSaving = 0.05;
// Chosen: a kernel lasts one to some microseconds whatever it does (an addition
// of 64 elements takes 0.95 us on an H200). Where the mean kernel moves less
// than this, which GPUs do in a part of that time, or is shorter than that
// where its bytes are unknown, bandwidth is not what it takes.
constexpr double kSmallKernelBytes = 1 << 20;
constexpr int64_t kShortKernelNs = 2'000;
// Chosen: as many of one name in a row are told by their number.
constexpr size_t kRepeats = 3;

struct Member {
  size_t row;
  PointwiseWork work;
};

// Chains of one sequence of names.
struct ChainKind {
  std::vector<size_t> first;  // rows of the first chain
  int64_t count = 0;          // chains
  int64_t kernels = 0;
  int64_t ns = 0;
  double bytes = 0;        // that these move now
  double saved_bytes = 0;  // of what lies between them
  bool estimated = false;
  bool bytes_known = true;

  // Too small for bandwidth to limit them.
  bool is_small() const {
    return bytes_known
               ? bytes < kSmallKernelBytes * static_cast<double>(kernels)
               : ns / kernels < kShortKernelNs;
  }
  // Of these very kernels; 0 is unknown, or says nothing.
  double bandwidth() const {
    return ns > 0 && bytes_known && !is_small()
               ? bytes * 1e9 / static_cast<double>(ns)
               : 0;
  }
  // Of small kernels at most: the time of all but one of each chain.
  int64_t saved_ns() const {
    if (is_small()) {
      return ns - static_cast<int64_t>(static_cast<double>(ns) *
                                       static_cast<double>(count) /
                                       static_cast<double>(kernels));
    }
    return bandwidth() > 0
               ? static_cast<int64_t>(std::min(static_cast<double>(ns),
                                               saved_bytes * 1e9 / bandwidth()))
               : 0;
  }
};

class ChainFinder {
 public:
  explicit ChainFinder(const FindingInput& in) : in_(in) {}

  void Add(const StreamWork& stream);
  const std::map<std::vector<int32_t>, ChainKind>& kinds() const {
    return kinds_;
  }

 private:
  bool Continues(size_t row, const PointwiseWork& work) const;
  void Close();

  const FindingInput& in_;
  std::vector<Member> open_;
  int products_ = 0;  // matrix products since the last member
  std::map<std::vector<int32_t>, ChainKind> kinds_;  // by name ids
};

void ChainFinder::Add(const StreamWork& stream) {
  for (const size_t row : stream.rows) {
    // A memset belongs to a matrix product, and is none between pointwise
    // kernels; it ends no chain.
    if (in_.trace.kind[row] == EventKind::kFill) continue;
    const auto work = in_.pointwise.Of(row, in_.names.Of(row));
    if (!work.has_value() || in_.steps.Of(row) == in_.steps.count()) {
      if (!IsGemm(in_, row) || products_ > 0) {
        Close();
      } else if (!open_.empty()) {
        ++products_;
      }
      continue;
    }
    if (!open_.empty() && !Continues(row, *work)) Close();
    open_.push_back({row, *work});
    products_ = 0;
  }
  Close();
}

// A product ends a chain, for it takes what came before it, but for the gated
// unit act(g(x)) * u(x): there the product in between is u(x).
bool ChainFinder::Continues(size_t row, const PointwiseWork& work) const {
  const Member& last = open_.back();
  if (in_.steps.Of(last.row) != in_.steps.Of(row) ||
      !SameElements(last.work, work)) {
    return false;
  }
  if (products_ == 0) return true;
  const KernelName& gate = in_.names.Of(row);
  const std::string& activation = in_.names.Of(last.row).action;
  return gate.action == "mul" && gate.operands == 3 &&
         (activation == "gelu" || activation == "silu" ||
          activation == "sigmoid" || activation == "clamp" ||
          activation == "tanh");
}

// What lies between two members is written by the first and read by the
// second.
void ChainFinder::Close() {
  const std::vector<Member> members = std::exchange(open_, {});
  products_ = 0;
  if (members.size() < 2) return;
  std::vector<int32_t> key;
  int64_t element_bytes = 0;
  for (const Member& member : members) {
    key.push_back(in_.trace.name[member.row]);
    element_bytes = std::max(element_bytes, member.work.element_bytes);
  }
  ChainKind& kind = kinds_[key];
  ++kind.count;
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    ++kind.kernels;
    kind.ns = AddSaturating(kind.ns, in_.trace.duration_ns[member.row]);
    kind.estimated = kind.estimated || member.work.estimated;
    kind.bytes_known = kind.bytes_known && member.work.bytes.has_value();
    kind.bytes += member.work.bytes.value_or(0);
    if (i + 1 < members.size()) {
      const int64_t size = member.work.element_bytes;
      // A copy counts its elements in bytes.
      kind.saved_bytes +=
          2 * member.work.elements * static_cast<double>(size > 0 ? size : 1);
    }
    if (kind.count == 1) kind.first.push_back(member.row);
  }
  kind.bytes_known = kind.bytes_known && element_bytes > 0;
}

// "gelu + mul", "mul + copy x3 + 58 more".
std::string ChainText(const FindingInput& in, const ChainKind& kind) {
  std::vector<std::string> names;
  constexpr size_t kShown = 6;
  size_t i = 0;
  while (i < kind.first.size() && names.size() < kShown) {
    const std::string name = WorkAction(in, kind.first[i]);
    size_t same = 1;
    while (i + same < kind.first.size() &&
           WorkAction(in, kind.first[i + same]) == name) {
      ++same;
    }
    names.push_back(same >= kRepeats ? absl::StrCat(name, " x", same) : name);
    i += same >= kRepeats ? same : 1;
  }
  if (i < kind.first.size()) {
    names.push_back(absl::StrCat(kind.first.size() - i, " more"));
  }
  return absl::StrJoin(names, " + ");
}

// What one kernel in place of a chain of small ones saves.
std::string SmallText(const FindingInput& in, const ChainKind& kind) {
  const auto count = static_cast<double>(kind.count);
  const auto ns = static_cast<double>(kind.ns);
  return absl::StrCat(
      "at ", NsText(ns / static_cast<double>(kind.kernels)),
      " a kernel (mean) they are too small for bandwidth to matter: fused, "
      "they would be one ",
      // A graph launches its nodes at once.
      IsGraphNode(in.trace, kind.first.front()) ? "kernel" : "launch",
      " in place of ", CountText(kind.kernels / kind.count),
      ", which saves at most ",
      NsText(static_cast<double>(kind.saved_ns()) / count), " of ",
      NsText(ns / count), " a time");
}

// What one chain of the kind moves in vain, and what that takes.
std::string SavingText(const FindingInput& in, const ChainKind& kind) {
  if (kind.is_small()) return SmallText(in, kind);
  if (kind.bandwidth() <= 0) {
    return "fused, how much is unknown: the names do not tell what they move";
  }
  const auto count = static_cast<double>(kind.count);
  return absl::StrCat("fused, ", TrafficText(kind.saved_bytes / count), " of ",
                      TrafficText(kind.bytes / count),
                      kind.estimated ? " (estimated)" : "",
                      " a time would neither be written nor read again: about ",
                      NsText(static_cast<double>(kind.saved_ns()) / count),
                      " of ", NsText(static_cast<double>(kind.ns) / count),
                      " at their own ", BandwidthText(kind.bandwidth()));
}

// Of all chains.
struct Saving {
  int64_t chains = 0;
  int64_t kernels = 0;
  int64_t ns = 0;
  int64_t saved_ns = 0;
  double saved_bytes = 0;  // of those that bandwidth limits
  bool estimated = false;  // these bytes
  bool at_most = false;    // small ones are among them
};

void AddTo(Saving* saving, const ChainKind& kind) {
  saving->chains += kind.count;
  saving->kernels += kind.kernels;
  saving->ns = AddSaturating(saving->ns, kind.ns);
  saving->saved_ns = AddSaturating(saving->saved_ns, kind.saved_ns());
  if (kind.is_small()) {
    saving->at_most = true;
    return;
  }
  if (kind.bytes_known) saving->saved_bytes += kind.saved_bytes;
  saving->estimated = saving->estimated || kind.estimated;
}

void AddNumbers(const FindingInput& in, const Saving& saving,
                Finding* finding) {
  finding->numbers["chains"] = CountNumber(saving.chains);
  finding->numbers["kernels"] = CountNumber(saving.kernels);
  finding->numbers["launches_saved"] =
      CountNumber(saving.kernels - saving.chains);
  finding->numbers["kernel_time"] = NsNumber(saving.ns);
  if (saving.saved_ns <= 0) return;
  const std::string word = saving.estimated ? "estimated_" : "";
  if (saving.saved_bytes > 0) {
    finding->numbers[word + "bytes_saved"] = BytesNumber(saving.saved_bytes);
  }
  finding->numbers[word + "time_saved"] = NsNumber(saving.saved_ns);
  finding->numbers[word + "saved_share"] =
      RatioNumber(in.Share(saving.saved_ns),
                  saving.at_most ? "time that fusing would save at most"
                                 : "time that fusing would save",
                  "time of device work");
}

}  // namespace

void AddFusionFindings(const FindingInput& in, std::vector<Finding>* findings) {
  ChainFinder finder(in);
  for (const StreamWork& stream : in.streams) finder.Add(stream);
  const ChainKind* most = nullptr;
  Saving saving;
  for (const auto& [key, kind] : finder.kinds()) {
    AddTo(&saving, kind);
    if (most == nullptr || std::make_pair(kind.saved_ns(), kind.ns) >
                               std::make_pair(most->saved_ns(), most->ns)) {
      most = &kind;
    }
  }
  // Unknown bytes: by the time of the kernels.
  const double share =
      in.Share(saving.saved_ns > 0 ? saving.saved_ns : saving.ns);
  if (most == nullptr || share < kMinSaving) return;
  Finding finding;
  finding.id = "unfused-pointwise";
  finding.severity =
      saving.saved_ns > 0 && share >= kWarningSaving ? "warning" : "info";
  const auto others = static_cast<int64_t>(finder.kinds().size()) - 1;
  finding.title = absl::StrCat(
      ChainText(in, *most), " run one after the other on as many elements, ",
      CountText(most->count, "time"), "; ", SavingText(in, *most), ".");
  if (others > 0) {
    absl::StrAppend(&finding.title, " With ", CountText(others, "other kind"),
                    " of chain: ", saving.at_most ? "at most " : "",
                    NsText(static_cast<double>(saving.saved_ns)), ", ",
                    PercentText(in.Share(saving.saved_ns)),
                    " of the device work.");
  }
  AddNumbers(in, saving, &finding);
  if (most->bandwidth() > 0) {
    finding.numbers["bandwidth"] = {most->bandwidth(), "bytes/s", "", ""};
  }
  for (const size_t row : most->first) AddEventId(row, &finding);
  // The last of what Adam and its kin do to a tensor.
  const bool optimizer = std::ranges::any_of(most->first, [&](size_t row) {
    return in.names.Of(row).action == "addcdiv";
  });
  finding.suggestion = absl::StrCat(
      optimizer ? "If it is an optimizer's step, it can be fused=True "
                  "(torch.optim). "
                : "",
      "Let a compiler fuse them (torch.compile), or write one kernel, if each "
      "takes what the one before it made, which a trace does not tell.");
  findings->push_back(std::move(finding));
}

}  // namespace traza
