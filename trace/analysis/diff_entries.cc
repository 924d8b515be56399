// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/diff_entries.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "trace/analysis/diff_text.h"
#include "trace/record.h"

namespace traza {
namespace {

// Whether the side can say how much of it a step has.
bool Knows(const DiffSide& side, DiffQuantity quantity) {
  switch (quantity) {
    case DiffQuantity::kRecords:
    case DiffQuantity::kBytes:
    case DiffQuantity::kDevice:
      return side.knows_work();
    case DiffQuantity::kIdle:
      return side.knows_idle();
    case DiffQuantity::kCount:
    case DiffQuantity::kCpu:
      return true;
  }
  return false;
}

// Copies and fills of the part: whether there are any, and all say their size.
enum class Sizes { kNone, kKnown, kUnknown };
Sizes SizesOf(const DiffSide& side, const std::vector<int32_t>& nodes) {
  Sizes sizes = Sizes::kNone;
  for (const int32_t id : nodes) {
    const DiffNode& node = side.nodes()[id];
    if (node.kind != EventKind::kCopy && node.kind != EventKind::kFill) {
      continue;
    }
    if (side.trace().bytes.is_null(node.row)) return Sizes::kUnknown;
    sizes = Sizes::kKnown;
  }
  return sizes;
}

class EntryMaker {
 public:
  explicit EntryMaker(const DiffMeasure& measure) : measure_(measure) {}

  // Without intervals.
  double EffectOf(const DiffPart& part) const;
  DiffEntry Make(const DiffPart& part) const;

 private:
  const DiffSide& side(int i) const {
    return i == 0 ? measure_.before : measure_.after;
  }
  Delta Measure(const std::vector<int32_t> (&nodes)[2], DiffQuantity quantity,
                const char* unit, bool interval) const;
  Delta BytesOf(const DiffPart& part) const;
  std::vector<StructureItem> ItemsOf(const DiffPart& part, int i) const;
  DiffChange ChangeOf(const DiffPart& part, const DiffEntry& entry) const;

  const DiffMeasure& measure_;
};

Delta EntryMaker::Measure(const std::vector<int32_t> (&nodes)[2],
                          DiffQuantity quantity, const char* unit,
                          bool interval) const {
  std::optional<StepValues> values[2];
  for (int i = 0; i < 2; ++i) {
    if (Knows(side(i), quantity)) {
      values[i] = side(i).ValuesOf(nodes[i], quantity);
    }
  }
  return MakeDelta(values[0], values[1], unit,
                   interval ? measure_.bootstrap : nullptr);
}

Delta EntryMaker::BytesOf(const DiffPart& part) const {
  const Sizes before = SizesOf(side(0), part.nodes[0]);
  const Sizes after = SizesOf(side(1), part.nodes[1]);
  Delta bytes{.unit = "bytes"};
  if (before == Sizes::kNone && after == Sizes::kNone) return bytes;
  if (before == Sizes::kUnknown || after == Sizes::kUnknown) return bytes;
  return Measure(part.nodes, DiffQuantity::kBytes, "bytes", true);
}

double EntryMaker::EffectOf(const DiffPart& part) const {
  const auto size = [&](DiffQuantity quantity) {
    return std::abs(
        Measure(part.nodes, quantity, "ns", false).difference.value_or(0));
  };
  // A time on the CPU matters where the device waits for it; it decides among
  // parts that the device does not see.
  constexpr double kLess = 1e-6;
  const double device =
      part.has_work ? size(DiffQuantity::kDevice) + size(DiffQuantity::kIdle)
                    : 0;
  return device + (part.has_cpu ? kLess * size(DiffQuantity::kCpu) : 0);
}

std::vector<StructureItem> EntryMaker::ItemsOf(const DiffPart& part,
                                               int i) const {
  std::vector<StructureItem> items;
  std::map<std::pair<EventKind, std::string>, size_t> known;
  for (const int32_t id : part.only[i]) {
    const EventKind kind = side(i).nodes()[id].kind;
    const std::string& name = side(i).NameOf(id);
    const auto [item, added] = known.try_emplace({kind, name}, items.size());
    if (added) items.push_back({kind, name, 0});
    items[item->second].count += part.times;
  }
  return items;
}

DiffChange EntryMaker::ChangeOf(const DiffPart& part,
                                const DiffEntry& entry) const {
  if (part.nodes[0].empty()) return DiffChange::kAdded;
  if (part.nodes[1].empty()) return DiffChange::kRemoved;
  if (!part.only[0].empty() || !part.only[1].empty()) {
    return DiffChange::kChanged;
  }
  for (const Delta* delta :
       {&entry.count, &entry.device_records, &entry.bytes}) {
    if (delta->difference.value_or(0) != 0) return DiffChange::kChanged;
  }
  for (const Delta* delta : {&entry.device_ns, &entry.cpu_ns, &entry.idle_ns}) {
    if (delta->significant.value_or(false)) return DiffChange::kChanged;
  }
  return DiffChange::kSame;
}

DiffEntry EntryMaker::Make(const DiffPart& part) const {
  DiffEntry entry;
  const int at = part.at[0] != kNoNode ? 0 : 1;
  entry.path = side(at).PathOf(part.at[at]);
  entry.count.unit = entry.device_records.unit = "count";
  entry.bytes.unit = "bytes";
  entry.device_ns.unit = entry.cpu_ns.unit = entry.idle_ns.unit = "ns";
  if (!part.tops[0].empty() || !part.tops[1].empty()) {
    // The step itself is neither a range nor an operator.
    if (part.at[at] != 0 || part.kind == DiffPart::Kind::kHost) {
      entry.count = Measure(part.tops, DiffQuantity::kCount, "count", true);
    }
  }
  if (part.has_work) {
    entry.device_records =
        Measure(part.nodes, DiffQuantity::kRecords, "count", true);
    entry.bytes = BytesOf(part);
    entry.device_ns = Measure(part.nodes, DiffQuantity::kDevice, "ns", true);
    entry.idle_ns = Measure(part.nodes, DiffQuantity::kIdle, "ns", true);
  }
  if (part.has_cpu) {
    entry.cpu_ns = Measure(part.nodes, DiffQuantity::kCpu, "ns", true);
  }
  entry.removed = ItemsOf(part, 0);
  entry.added = ItemsOf(part, 1);
  entry.change = ChangeOf(part, entry);
  entry.text = DescribePart(part, measure_.before, measure_.after);
  return entry;
}

}  // namespace

std::vector<DiffEntry> MakeEntries(const std::vector<DiffPart>& parts,
                                   const DiffMeasure& measure, int64_t limit) {
  const EntryMaker maker(measure);
  // Of equal effects that first which says why: other work makes the device
  // wait for longer or shorter elsewhere.
  std::vector<std::tuple<double, bool, size_t>> order;
  order.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool alike = parts[i].only[0].empty() && parts[i].only[1].empty();
    order.emplace_back(-maker.EffectOf(parts[i]), alike, i);
  }
  std::ranges::sort(order);
  std::vector<DiffEntry> entries;
  for (const auto& [effect, alike, part] : order) {
    if (static_cast<int64_t>(entries.size()) == limit) break;
    entries.push_back(maker.Make(parts[part]));
  }
  return entries;
}

}  // namespace traza
