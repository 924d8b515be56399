// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/diff_names.h"
#include "trace/analysis/diff_traffic.h"
#include "trace/analysis/kernel_names.h"
#include "trace/analysis/row_names.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

using Nodes = std::vector<int32_t>;

constexpr size_t kMaxNames = 4;  // in one list
// Below this share of a step a difference of time alone is no change to name.
constexpr double kNamedFrom = 0.01;
constexpr double kNamedBytes = 1024;

std::string ShortName(const DiffSide& side, int32_t id) {
  if (!IsDeviceWork(side.nodes()[id].kind)) return side.NameOf(id);
  int32_t around = side.nodes()[id].parent;
  while (around > 0 && side.nodes()[around].kind != EventKind::kOp) {
    around = side.nodes()[around].parent;
  }
  return ShortWorkName(side.NameOf(id), around > 0 ? side.NameOf(around) : "");
}

const char* NounOf(const DiffSide& side, const Nodes& nodes) {
  const EventKind kind = side.nodes()[nodes[0]].kind;
  bool pointwise = true;
  for (const int32_t id : nodes) {
    if (side.nodes()[id].kind != kind) return "piece of device work";
    pointwise = pointwise && IsPointwise(side.NameOf(id));
  }
  switch (kind) {
    case EventKind::kCopy:
      return "copy";
    case EventKind::kFill:
      return "fill";
    case EventKind::kOp:
      return "operator";
    default:
      return pointwise ? "pointwise kernel" : "kernel";
  }
}

// "2 kernels", "1 copy", "3 pieces of device work".
std::string Counted(size_t count, const std::string& noun) {
  if (count == 1) return absl::StrCat("1 ", noun);
  const std::string number = CountText(static_cast<int64_t>(count));
  if (noun == "copy") return absl::StrCat(number, " copies");
  if (noun == "piece of device work") {
    return absl::StrCat(number, " pieces of device work");
  }
  return absl::StrCat(number, " ", noun, "s");
}

// "gelu, mul"; "mm x3, add".
std::string NamesOf(const DiffSide& side, const Nodes& nodes) {
  std::vector<std::string> names;
  std::vector<int64_t> counts;
  for (const int32_t id : nodes) {
    std::string name = ShortName(side, id);
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) {
      ++counts[static_cast<size_t>(found - names.begin())];
    } else {
      names.push_back(std::move(name));
      counts.push_back(1);
    }
  }
  const size_t left = names.size() - std::min(names.size(), kMaxNames);
  names.resize(names.size() - left);
  for (size_t i = 0; i < names.size(); ++i) {
    if (counts[i] > 1) absl::StrAppend(&names[i], " x", CountText(counts[i]));
  }
  if (left > 0) {
    names.push_back(absl::StrCat("and ", left, " other names"));
  }
  return absl::StrJoin(names, ", ");
}

// `next` or, where that clears memory, the kernel that it is cleared for.
int32_t NextKernel(const DiffSide& side, int32_t next) {
  if (next == kNoNode) return kNoNode;
  const auto end =
      std::min(next + 4, static_cast<int32_t>(side.nodes().size()));
  for (int32_t at = next; at < end; ++at) {
    const EventKind kind = side.nodes()[at].kind;
    if (kind == EventKind::kKernel) return at;
    if (kind != EventKind::kFill) break;
  }
  return kNoNode;
}

std::string OneSided(const DiffSide& side, const Nodes& nodes, int32_t next,
                     bool removed) {
  std::string text = absl::StrCat(Counted(nodes.size(), NounOf(side, nodes)),
                                  " (", NamesOf(side, nodes), ")");
  const int32_t kernel = NextKernel(side, next);
  if (kernel != kNoNode) {
    const bool product =
        ClassifyKernel(side.NameOf(kernel)) == KernelClass::kMatrix;
    absl::StrAppend(&text, " before ", product ? "the product " : "",
                    ShortName(side, kernel));
  }
  const bool one = nodes.size() == 1;
  return absl::StrCat(text, removed ? (one ? " is gone" : " are gone")
                                    : (one ? " is new" : " are new"));
}

// ", an estimated 96.0 MiB less to and from memory"; empty where unknown.
std::string TrafficText(const DiffSide& before, const DiffSide& after,
                        const Nodes& removed, const Nodes& added) {
  const char* sense = " less";
  std::optional<int64_t> bytes = SavedByFusion(before, removed, after, added);
  if (!bytes.has_value()) {
    bytes = SavedByFusion(after, added, before, removed);
    sense = " more";
  }
  if (!bytes.has_value()) return "";
  return absl::StrCat(", an estimated ", BytesText(static_cast<double>(*bytes)),
                      sense, " to and from memory");
}

// "(Pageable -> Device)" of a copy.
absl::string_view EndsOf(absl::string_view name) {
  const size_t open = name.find('(');
  return open == absl::string_view::npos ? "" : name.substr(open);
}

// What differs between two pieces of work whose short names are one.
std::string SameName(const DiffSide& before, const DiffSide& after,
                     int32_t removed, int32_t added, const std::string& what) {
  const std::string& from = before.NameOf(removed);
  const std::string& to = after.NameOf(added);
  if (before.nodes()[removed].kind == EventKind::kCopy &&
      EndsOf(from) != EndsOf(to)) {
    return absl::StrCat(what, " ", EndsOf(from), " became ", EndsOf(to));
  }
  const KernelType type_before = DecodeKernelName(from).type;
  const KernelType type_after = DecodeKernelName(to).type;
  if (type_before != type_after && type_before != KernelType::kUnknown &&
      type_after != KernelType::kUnknown) {
    return absl::StrCat(what, ": ", KernelTypeName(type_before), " became ",
                        KernelTypeName(type_after));
  }
  return absl::StrCat(what, " has another implementation");
}

std::string Both(const DiffSide& before, const DiffSide& after,
                 const Nodes& removed, const Nodes& added) {
  const std::string noun_before = NounOf(before, removed);
  const std::string noun_after = NounOf(after, added);
  if (removed.size() == 1 && added.size() == 1 && noun_before == noun_after) {
    const std::string from = ShortName(before, removed[0]);
    const std::string to = ShortName(after, added[0]);
    if (from != to) {
      const bool same = MatrixCore(before.NameOf(removed[0])) ==
                        MatrixCore(after.NameOf(added[0]));
      return absl::StrCat(
          noun_before, " ", from, " became ", to,
          same ? " (the same product with another epilogue)" : "");
    }
    return SameName(before, after, removed[0], added[0],
                    absl::StrCat(noun_before, " ", from));
  }
  return absl::StrCat(Counted(removed.size(), noun_before), " (",
                      NamesOf(before, removed), ") became ",
                      noun_before == noun_after
                          ? CountText(static_cast<int64_t>(added.size()))
                          : Counted(added.size(), noun_after),
                      " (", NamesOf(after, added), ")",
                      TrafficText(before, after, removed, added));
}

std::string PlainText(const DiffPart& part, const DiffSide& before,
                      const DiffSide& after) {
  const int at = part.nodes[0].empty() ? 1 : 0;
  const DiffSide& side = at == 0 ? before : after;
  switch (part.kind) {
    case DiffPart::Kind::kOwn: {
      if (part.at[at] == 0) return "outside of ranges and operators";
      const bool below = side.nodes()[part.at[at]].first_child != kNoNode;
      return below ? "itself, without what is inside" : "";
    }
    case DiffPart::Kind::kWork:
      return ShortName(side, part.nodes[at][0]);
    case DiffPart::Kind::kHost:
      if (part.tops[0].empty() || part.tops[1].empty()) {
        const size_t count = part.tops[0].size() + part.tops[1].size();
        return absl::StrCat(Counted(count, "operator"),
                            " around that, on the CPU,",
                            count == 1 ? " is " : " are ",
                            part.tops[1].empty() ? "gone" : "new");
      }
      return absl::StrCat(
          "around that, on the CPU: ", Counted(part.tops[0].size(), "operator"),
          " became ", CountText(static_cast<int64_t>(part.tops[1].size())));
    default:
      return at == 1 ? "is new" : part.nodes[1].empty() ? "is gone" : "";
  }
}

std::string PathText(const std::vector<std::string>& path) {
  if (path.empty()) return "";
  const size_t first = path.size() - std::min<size_t>(path.size(), 2);
  return absl::StrCat(
      absl::StrJoin(path.begin() + static_cast<ptrdiff_t>(first), path.end(),
                    " > "),
      ": ");
}

// "-29.1 us of device time"; "about" where no interval bears it out, and what
// to think of it where one says that it may be nothing.
void AddEffect(const Delta& delta, const char* of,
               std::vector<std::string>* effects) {
  if (!delta.difference.has_value() || *delta.difference == 0) return;
  std::string text =
      absl::StrCat(delta.significant.has_value() ? "" : "about ",
                   SignedText(*delta.difference, delta.unit), of);
  if (!delta.significant.value_or(true)) {
    absl::StrAppend(&text, " (not told from 0)");
  }
  effects->push_back(std::move(text));
}

std::string IntervalText(const Delta& delta, double confidence) {
  if (!delta.low.has_value()) return "";
  return absl::StrCat(", ",
                      absl::StrFormat("%.4g %% interval ", confidence * 100),
                      SignedText(*delta.low, delta.unit), " to ",
                      SignedText(*delta.high, delta.unit));
}

}  // namespace

std::string DescribePart(const DiffPart& part, const DiffSide& before,
                         const DiffSide& after) {
  std::string text;
  if (!part.only[0].empty() && !part.only[1].empty()) {
    text = Both(before, after, part.only[0], part.only[1]);
  } else if (!part.only[0].empty()) {
    text = OneSided(before, part.only[0], part.next[0], true);
  } else if (!part.only[1].empty()) {
    text = OneSided(after, part.only[1], part.next[1], false);
  } else {
    return PlainText(part, before, after);
  }
  return part.times == 1
             ? text
             : absl::StrCat(CountText(part.times), " times: ", text);
}

std::string SignedText(double value, const std::string& unit) {
  std::string text = unit == "ns"      ? NsText(value)
                     : unit == "bytes" ? BytesText(value)
                                       : CountText(std::llround(value));
  return value > 0 ? absl::StrCat("+", text) : text;
}

std::optional<std::string> ChangeSentence(const DiffEntry& entry,
                                          double step_ns) {
  if (entry.change == DiffChange::kSame) return std::nullopt;
  const bool work = !entry.removed.empty() || !entry.added.empty() ||
                    entry.count.difference.value_or(0) != 0;
  std::vector<std::string> effects;
  // Flags and counters of a few bytes are cleared all the time.
  if (std::abs(entry.bytes.difference.value_or(0)) >= kNamedBytes) {
    // Those of kernels are not recorded.
    AddEffect(entry.bytes, " of copies", &effects);
  }
  AddEffect(entry.device_ns, " of device time", &effects);
  if (!work) {
    double most = 0;
    for (const Delta* delta :
         {&entry.device_ns, &entry.cpu_ns, &entry.idle_ns}) {
      if (!delta->significant.value_or(false)) continue;
      most = std::max(most, std::abs(delta->difference.value_or(0)));
    }
    if (most < kNamedFrom * step_ns) return std::nullopt;
  }
  if (entry.device_ns.difference.value_or(0) == 0) {
    AddEffect(entry.cpu_ns, " on the CPU", &effects);
  }
  AddEffect(entry.idle_ns, " of idle time before it", &effects);
  std::string text = entry.text;
  if (text.empty()) text = "the same work";
  return absl::StrCat(PathText(entry.path), text, effects.empty() ? "" : ": ",
                      absl::StrJoin(effects, ", "), ".");
}

std::string SummaryOf(const Diff& diff, int64_t steps_before,
                      int64_t steps_after) {
  const Delta& step = diff.step_ns;
  if (diff.verdict == DiffVerdict::kNotComparable) {
    return "The time of a step is not known on both sides: only the work is "
           "compared.";
  }
  const std::string times = absl::StrCat(
      diff.step_phase == Phase::kTraced ? "a traced step" : "a step", " took ",
      NsText(*step.before), " and takes ", NsText(*step.after), ", ",
      SignedText(*step.difference, "ns"),
      *step.before > 0
          ? absl::StrCat(" (", *step.difference > 0 ? "+" : "",
                         PercentText(*step.difference / *step.before), ")")
          : "",
      IntervalText(step, diff.confidence), ".");
  switch (diff.verdict) {
    case DiffVerdict::kFaster:
      return absl::StrCat("Faster: ", times);
    case DiffVerdict::kSlower:
      return absl::StrCat("Slower: ", times);
    case DiffVerdict::kNoDifference:
      return absl::StrCat("No difference can be told: ", times);
    default:
      return absl::StrCat("Nothing can be claimed: ", steps_before, " and ",
                          steps_after, " steps are too few for an interval; ",
                          times);
  }
}

}  // namespace traza
