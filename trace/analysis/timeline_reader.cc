// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/timeline_reader.h"

#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/analysis/statistics.h"
#include "trace/analysis/timeline.h"
#include "trace/record.h"

namespace traza {
namespace {

// Events of one depth that go into one bucket, while they come.
struct OpenBucket {
  int64_t piece = -1;
  TimelineBucket bucket;
  std::vector<std::tuple<int32_t, EventKind, int64_t>> by_name;  // ns
};

class LaneReader {
 public:
  LaneReader(const Trace& trace, const TimelinePart& part, LaneRows* lane)
      : trace_(trace), part_(part), rows_(lane->rows), lane_(lane->lane) {}

  void Read() {
    if (lane_.kind == LaneKind::kCounter) {
      ReadSamples();
    } else {
      ReadEvents();
    }
  }

 private:
  void ReadEvents();
  void ReadSamples();
  void AddSample(int64_t time_ns, double value);
  void AddEvent(size_t row, int32_t depth);
  void AddShort(size_t row, int32_t depth);
  void Close(OpenBucket* open);

  const Trace& trace_;
  const TimelinePart& part_;
  const std::vector<size_t>& rows_;
  TimelineLane& lane_;
  std::vector<OpenBucket> open_;  // by depth
};

void LaneReader::ReadEvents() {
  DepthFinder depths;
  for (const size_t row : rows_) {
    const int64_t start = trace_.start_ns[row];
    const int64_t end = trace_.end_ns(row);
    const int32_t depth = depths.Next(start, end);
    if (!part_.Contains(start, end)) continue;
    if (trace_.duration_ns[row] >= part_.bucket_ns) {
      AddEvent(row, depth);
    } else {
      AddShort(row, depth);
    }
  }
  for (OpenBucket& open : open_) Close(&open);
  lane_.max_depth = depths.max_depth();
  std::ranges::sort(lane_.buckets, {}, [](const TimelineBucket& bucket) {
    return std::pair(bucket.start_ns, bucket.depth);
  });
}

void LaneReader::AddEvent(size_t row, int32_t depth) {
  TimelineEvent event;
  event.id = static_cast<int64_t>(row);
  event.kind = trace_.kind[row];
  event.name = trace_.name[row];
  event.start_ns = trace_.start_ns[row];
  event.duration_ns = trace_.duration_ns[row];
  event.depth = depth;
  if (!trace_.op.is_null(row)) event.op = trace_.op.at(row);
  if (!trace_.call.is_null(row)) event.call = trace_.call.at(row);
  lane_.events.push_back(event);
}

void LaneReader::AddShort(size_t row, int32_t depth) {
  const auto place = static_cast<size_t>(depth);
  if (place >= open_.size()) open_.resize(place + 1);
  OpenBucket& open = open_[place];
  const int64_t start = trace_.start_ns[row];
  const int64_t piece = part_.PieceOf(start);
  if (open.piece != piece) {
    Close(&open);
    open.piece = piece;
    open.bucket.start_ns = start;
    open.bucket.depth = depth;
  }
  TimelineBucket& bucket = open.bucket;
  ++bucket.count;
  // Events of one depth do not overlap: their union is their sum.
  bucket.busy_ns = AddSaturating(bucket.busy_ns, trace_.duration_ns[row]);
  bucket.duration_ns =
      std::max(bucket.duration_ns, trace_.end_ns(row) - bucket.start_ns);
  open.by_name.emplace_back(trace_.name[row], trace_.kind[row],
                            trace_.duration_ns[row]);
}

void LaneReader::Close(OpenBucket* open) {
  if (open->bucket.count == 0) return;
  std::ranges::sort(open->by_name);
  int64_t most = -1;
  for (size_t i = 0; i < open->by_name.size();) {
    const auto [name, kind, first] = open->by_name[i];
    int64_t sum = 0;
    for (; i < open->by_name.size() && std::get<0>(open->by_name[i]) == name &&
           std::get<1>(open->by_name[i]) == kind;
         ++i) {
      sum = AddSaturating(sum, std::get<2>(open->by_name[i]));
    }
    if (sum > most) {
      most = sum;
      open->bucket.name = name;
      open->bucket.kind = kind;
    }
  }
  lane_.buckets.push_back(open->bucket);
  open->bucket = TimelineBucket();
  open->by_name.clear();
}

void LaneReader::AddSample(int64_t time_ns, double value) {
  if (!part_.Contains(time_ns, time_ns) || !std::isfinite(value)) return;
  const int64_t start =
      part_.start_ns + part_.PieceOf(time_ns) * part_.bucket_ns;
  if (lane_.samples.empty() || lane_.samples.back().time_ns != start) {
    lane_.samples.push_back({start, value, value, value, 1});
    return;
  }
  TimelineSample& sample = lane_.samples.back();
  ++sample.count;
  // No sum that could overflow.
  const auto count = static_cast<double>(sample.count);
  sample.mean += value / count - sample.mean / count;
  sample.min = std::min(sample.min, value);
  sample.max = std::max(sample.max, value);
}

void LaneReader::ReadSamples() {
  int64_t allocated = 0;
  for (const size_t row : rows_) {
    double value = trace_.value.at(row);
    if (trace_.kind[row] == EventKind::kAlloc) {
      const int64_t bytes = trace_.bytes.at(row);
      if (bytes == kNull<int64_t>) continue;
      allocated = AddSaturating(allocated, bytes);
      value = static_cast<double>(allocated);
    }
    AddSample(trace_.start_ns[row], value);
  }
}

}  // namespace

void ReadLane(const Trace& trace, const TimelinePart& part, LaneRows* lane) {
  LaneReader(trace, part, lane).Read();
}

}  // namespace traza
