// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/timeline_fit.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/utf8.h"

namespace traza {
namespace {

// What parts of a reply take on the wire, at most but for names: ten bytes a
// large number, a tag and a length each.
constexpr size_t kEventBytes = 64;
constexpr size_t kBucketBytes = 64;
constexpr size_t kSampleBytes = 56;
constexpr size_t kLaneBytes = 96;
constexpr size_t kNameBytes = 8;

// Something that a lane shows, to decide what fits into the reply.
struct Item {
  int64_t duration_ns;
  uint32_t lane;
  uint32_t index;
  enum Kind : uint8_t { kEvent, kBucket, kSample } kind;
};

// Keeps of the lanes what fits into the reply, the longest first, and numbers
// the names that are used.
class Fitter {
 public:
  Fitter(const Trace& trace, size_t max_bytes, Timeline* timeline)
      : trace_(trace), room_(max_bytes), timeline_(*timeline) {}

  void Fit();

 private:
  std::vector<Item> Items() const;
  bool Take(size_t bytes) {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }
  bool TakeItem(const Item& item);
  int32_t& NameOf(const Item& item) {
    TimelineLane& lane = timeline_.lanes[item.lane];
    return item.kind == Item::kEvent ? lane.events[item.index].name
                                     : lane.buckets[item.index].name;
  }
  void Number();
  template <typename T>
  static void Erase(const std::vector<uint8_t>& kept, std::vector<T>* all);

  const Trace& trace_;
  size_t room_;
  Timeline& timeline_;
  absl::flat_hash_map<int32_t, int32_t> names_;  // of the trace -> of the reply
};

std::vector<Item> Fitter::Items() const {
  std::vector<Item> items;
  for (uint32_t l = 0; l < timeline_.lanes.size(); ++l) {
    const TimelineLane& lane = timeline_.lanes[l];
    for (uint32_t i = 0; i < lane.events.size(); ++i) {
      items.push_back({lane.events[i].duration_ns, l, i, Item::kEvent});
    }
    for (uint32_t i = 0; i < lane.buckets.size(); ++i) {
      items.push_back({lane.buckets[i].busy_ns, l, i, Item::kBucket});
    }
    for (uint32_t i = 0; i < lane.samples.size(); ++i) {
      items.push_back({timeline_.bucket_ns, l, i, Item::kSample});
    }
  }
  return items;
}

bool Fitter::TakeItem(const Item& item) {
  if (item.kind == Item::kSample) return Take(kSampleBytes);
  size_t bytes = item.kind == Item::kEvent ? kEventBytes : kBucketBytes;
  const int32_t name = NameOf(item);
  const bool known = names_.contains(name);
  if (!known) {
    // A malformed byte becomes three.
    bytes += kNameBytes +
             std::min(3 * trace_.names.at(name).size(), kMaxTimelineNameBytes);
  }
  if (!Take(bytes)) return false;
  if (!known) names_.emplace(name, 0);
  return true;
}

template <typename T>
void Fitter::Erase(const std::vector<uint8_t>& kept, std::vector<T>* all) {
  size_t size = 0;
  for (size_t i = 0; i < all->size(); ++i) {
    if (kept[i] != 0) (*all)[size++] = (*all)[i];
  }
  all->resize(size);
}

void Fitter::Number() {
  const auto number = [this](int32_t* name) {
    const auto [found, added] = names_.try_emplace(*name, 0);
    if (added) {
      found->second = static_cast<int32_t>(timeline_.names.size());
      timeline_.names.emplace_back(CutUtf8(
          ToValidUtf8(CutUtf8(trace_.names.at(*name), kMaxTimelineNameBytes)),
          kMaxTimelineNameBytes));
    }
    *name = found->second;
  };
  names_.clear();
  for (TimelineLane& lane : timeline_.lanes) {
    for (TimelineEvent& event : lane.events) number(&event.name);
    for (TimelineBucket& bucket : lane.buckets) number(&bucket.name);
  }
}

void Fitter::Fit() {
  for (const TimelineLane& lane : timeline_.lanes) {
    if (Take(kLaneBytes + lane.id.size() + lane.title.size())) continue;
    timeline_.truncated = true;
    room_ = 0;
  }
  std::vector<Item> items = Items();
  std::ranges::sort(items, {}, [](const Item& item) {
    return std::tuple(-item.duration_ns, item.lane, item.kind, item.index);
  });
  std::vector<std::array<std::vector<uint8_t>, 3>> kept;
  for (const TimelineLane& lane : timeline_.lanes) {
    auto& of_lane = kept.emplace_back();
    of_lane[Item::kEvent].resize(lane.events.size());
    of_lane[Item::kBucket].resize(lane.buckets.size());
    of_lane[Item::kSample].resize(lane.samples.size());
  }
  for (const Item& item : items) {
    if (!TakeItem(item)) {
      timeline_.truncated = true;
      break;
    }
    kept[item.lane][item.kind][item.index] = 1;
  }
  for (size_t l = 0; l < timeline_.lanes.size(); ++l) {
    TimelineLane& lane = timeline_.lanes[l];
    Erase(kept[l][Item::kEvent], &lane.events);
    Erase(kept[l][Item::kBucket], &lane.buckets);
    Erase(kept[l][Item::kSample], &lane.samples);
  }
  Number();
}

}  // namespace

void FitTimeline(const Trace& trace, size_t max_bytes, Timeline* timeline) {
  Fitter(trace, max_bytes, timeline).Fit();
}

}  // namespace traza
