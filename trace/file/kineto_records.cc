// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_records.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/utf8.h"
#include "trace/file/file_errors.h"
#include "trace/file/kineto_overhead.h"

namespace traza {
namespace {

// As in Parquet files.
constexpr int64_t kMaxNameBytes = int64_t{64} << 20;
// Categories of a hostile file; a real one has about ten.
constexpr size_t kMaxLeftOut = 32;

// A sum of times, in bounds where it would leave them.
int64_t AddClamped(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

// Null where it has no room in the column.
int32_t Narrow(int64_t value) {
  return value > std::numeric_limits<int32_t>::min() &&
                 value <= std::numeric_limits<int32_t>::max()
             ? static_cast<int32_t>(value)
             : kNull<int32_t>;
}

int64_t OrElse(int64_t value, int64_t other) {
  return value == kNull<int64_t> ? other : value;
}

int64_t EndOf(const KinetoEvent& event) {
  return AddClamped(*event.start_ns, event.duration_ns.value_or(0));
}

bool IsStep(absl::string_view name) {
  return absl::StartsWith(name, "ProfilerStep#");
}

// Most names are; one pass without a branch a byte.
bool IsAscii(absl::string_view text) {
  unsigned char bits = 0;
  for (const char byte : text) bits |= static_cast<unsigned char>(byte);
  return bits < 0x80;
}

// Waits of the CPU, as in our own traces (worker/cupti/traced_calls.cc).
EventKind CallKind(absl::string_view name) {
  // MTIA's are "synchronize" and "synchronizeStream".
  return absl::EndsWith(name, "Synchronize") ||
                 absl::StartsWith(name, "synchronize")
             ? EventKind::kSync
             : EventKind::kCall;
}

// MTIA's command processor lists beside its work the waits of one stream for
// another, which are none: the device could work meanwhile.
EventKind WorkKind(const KinetoEvent& event) {
  return absl::EqualsIgnoreCase(event.category, "mtia_ccp_events") &&
                 (event.name == "event_wait" || event.name == "event_record")
             ? EventKind::kSync
             : EventKind::kKernel;
}

// The external id of an op that a call or its work names. Older files write the
// correlation there: then it names none.
int64_t IdOfOp(const KinetoEvent& event) {
  return event.external_id == event.correlation ? kNull<int64_t>
                                                : event.external_id;
}

bool IsCall(EventKind kind) {
  return kind == EventKind::kCall || kind == EventKind::kSync;
}

}  // namespace

void KinetoRecords::LeaveOut(absl::string_view what) {
  const auto known = left_out_.find(std::string(what));
  if (known != left_out_.end()) {
    ++known->second;
  } else if (left_out_.size() < kMaxLeftOut) {
    left_out_.emplace(ToValidUtf8(what.substr(0, 64)), 1);
  } else {
    ++left_out_["other"];
  }
}

absl::Status KinetoRecords::Add(const KinetoEvent& event) {
  if (event.kind == KinetoKind::kMetadata) return absl::OkStatus();
  if (event.kind == KinetoKind::kOther) {
    LeaveOut(event.category.empty() ? "without a category" : event.category);
    return absl::OkStatus();
  }
  if (!event.start_ns.has_value() ||
      (event.phase == 'X' && !event.duration_ns.has_value())) {
    LeaveOut("without a time");
    return absl::OkStatus();
  }
  switch (event.kind) {
    case KinetoKind::kOp:
    case KinetoKind::kAnnotation:
      AddAnnotation(event);
      break;
    case KinetoKind::kCall:
      ++calls_;
      AddHost(CallKind(event.name), event);
      break;
    case KinetoKind::kOverhead:
      AddHost(EventKind::kOverhead, event);
      break;
    case KinetoKind::kKernel:
      AddDevice(WorkKind(event), event);
      break;
    case KinetoKind::kCopy:
      AddDevice(EventKind::kCopy, event);
      break;
    case KinetoKind::kFill:
      AddDevice(EventKind::kFill, event);
      break;
    case KinetoKind::kSync:
      AddDevice(EventKind::kSync, event);
      break;
    case KinetoKind::kGpuAnnotation:
      AddDevice(EventKind::kRange, event);
      break;
    case KinetoKind::kAlloc:
      AddAlloc(event);
      break;
    default:
      break;
  }
  const auto count =
      static_cast<int64_t>(records_.host.size() + records_.device.size() +
                           records_.allocs.size() + records_.steps.size());
  if (count > max_records_) {
    return FileTooLarge("events", count, max_records_);
  }
  if (name_bytes_ > kMaxNameBytes) {
    return FileTooLarge("bytes of names", name_bytes_, kMaxNameBytes);
  }
  return absl::OkStatus();
}

int32_t KinetoRecords::Intern(absl::string_view name) {
  const int32_t before = records_.names.size();
  const int32_t id = IsAscii(name) || IsValidUtf8(name)
                         ? records_.names.Intern(name)
                         : records_.names.Intern(ToValidUtf8(name));
  if (id == before) name_bytes_ += static_cast<int64_t>(name.size());
  return id;
}

void KinetoRecords::AddAnnotation(const KinetoEvent& event) {
  if (IsStep(event.name)) {
    records_.steps.push_back({.phase = Phase::kTraced,
                              .start_ns = *event.start_ns,
                              .end_ns = EndOf(event),
                              .process = Narrow(event.pid),
                              .thread = event.tid,
                              .name = Intern(event.name)});
    return;
  }
  if (event.kind == KinetoKind::kAnnotation) {
    return AddHost(EventKind::kRange, event);
  }
  ++ops_;
  AddHost(EventKind::kOp, event);
  RawHostEvent& op = records_.host.back();
  if (event.input_dims.empty()) return;
  const int32_t before = records_.names.size();
  inputs_.Decode(event.input_dims, event.input_types, &op, &records_.names);
  has_shapes_ = has_shapes_ || op.shapes != kNull<int32_t>;
  if (records_.names.size() > before) {
    name_bytes_ += static_cast<int64_t>(event.input_dims.size() +
                                        event.input_types.size());
  }
}

void KinetoRecords::AddHost(EventKind kind, const KinetoEvent& event) {
  RawHostEvent record = {.kind = kind,
                         .name = Intern(event.name),
                         .start_ns = *event.start_ns,
                         .end_ns = EndOf(event),
                         .process = Narrow(event.pid),
                         .thread = event.tid,
                         .correlation = event.correlation};
  // Overhead of no thread is written as that of process -1.
  if (event.pid < 0) {
    record.process = kNull<int32_t>;
    record.thread = kNull<int64_t>;
  }
  records_.host.push_back(record);
  host_ids_.push_back(kind == EventKind::kOp ? event.external_id
                                             : IdOfOp(event));
}

void KinetoRecords::AddDevice(EventKind kind, const KinetoEvent& event) {
  RawDeviceEvent record = {
      .kind = kind,
      .name = Intern(event.name),
      .start_ns = *event.start_ns,
      .end_ns = EndOf(event),
      .device = Narrow(OrElse(event.device, event.pid)),
      .context = Narrow(event.context),
      .stream = Narrow(OrElse(event.stream, event.tid)),
      .correlation = event.correlation,
      .graph = event.graph_node > 0 ? event.graph : kNull<int64_t>,
      .graph_node = event.graph_node > 0 ? event.graph_node : kNull<int64_t>,
      .registers = Narrow(event.registers),
      .shared_dynamic = Narrow(event.shared_memory),
      .bytes = event.bytes};
  if (record.device == kNull<int32_t>) return LeaveOut("without a device");
  for (size_t i = 0; i < event.grid.size(); ++i) {
    record.grid[i] = Narrow(event.grid[i]);
    record.block[i] = Narrow(event.block[i]);
  }
  if (kind == EventKind::kCopy) record.copy_kind = CopyKind(event.name);
  if (IsDeviceWork(kind)) ++device_work_;
  records_.device.push_back(record);
  device_ids_.push_back(IsDeviceWork(kind) ? IdOfOp(event) : kNull<int64_t>);
}

// "htod" of "Memcpy HtoD (Pageable -> Device)".
int32_t KinetoRecords::CopyKind(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "Memcpy ")) return kNull<int32_t>;
  const std::string kind = absl::AsciiStrToLower(
      name.substr(0, std::min(name.find(' '), name.size())));
  return kind.size() == 4 && kind.compare(1, 2, "to") == 0 ? Intern(kind)
                                                           : kNull<int32_t>;
}

void KinetoRecords::AddAlloc(const KinetoEvent& event) {
  if (event.bytes == kNull<int64_t>) return LeaveOut("memory without bytes");
  // Device type 0 is the CPU; where it is not said, an id below 0 is.
  const bool of_cpu = event.device_type == 0 || event.device_id < 0;
  records_.allocs.push_back(
      {.time_ns = *event.start_ns,
       .bytes = event.bytes,
       .device = of_cpu ? kNull<int32_t> : Narrow(event.device_id),
       .process = Narrow(event.pid),
       .thread = event.tid});
}

void KinetoRecords::NumberSteps() {
  std::ranges::sort(records_.steps, {}, [](const RawStep& step) {
    return std::make_tuple(step.start_ns, step.end_ns, step.name);
  });
  int32_t number = 0;
  for (RawStep& step : records_.steps) step.number = number++;
}

void KinetoRecords::TieToOps() {
  absl::flat_hash_map<int64_t, size_t> ops;  // by external id
  absl::flat_hash_set<int64_t> called;
  for (size_t i = 0; i < records_.host.size(); ++i) {
    const RawHostEvent& event = records_.host[i];
    if (event.kind == EventKind::kCall) called.insert(event.correlation);
    if (event.kind == EventKind::kOp && host_ids_[i] != kNull<int64_t>) {
      ops.try_emplace(host_ids_[i], i);
    }
  }
  if (ops.empty()) return;
  // What an op did cannot have begun before it.
  const auto tie = [&](int64_t id, auto* event) {
    if (id == kNull<int64_t>) return;
    const auto op = ops.find(id);
    if (op != ops.end() &&
        records_.host[op->second].start_ns <= event->start_ns) {
      event->op_host = static_cast<int64_t>(op->second);
    }
  };
  for (size_t i = 0; i < records_.host.size(); ++i) {
    if (IsCall(records_.host[i].kind)) tie(host_ids_[i], &records_.host[i]);
  }
  for (size_t i = 0; i < records_.device.size(); ++i) {
    if (!called.contains(records_.device[i].correlation)) {
      tie(device_ids_[i], &records_.device[i]);
    }
  }
}

void KinetoRecords::Shift(int64_t base_ns) {
  const auto shift = [base_ns](int64_t* time) {
    *time = AddClamped(*time, base_ns);
  };
  for (RawStep& step : records_.steps) {
    shift(&step.start_ns);
    shift(&step.end_ns);
  }
  for (RawHostEvent& event : records_.host) {
    shift(&event.start_ns);
    shift(&event.end_ns);
  }
  for (RawDeviceEvent& event : records_.device) {
    shift(&event.start_ns);
    shift(&event.end_ns);
  }
  for (RawAlloc& alloc : records_.allocs) shift(&alloc.time_ns);
}

RawRecords KinetoRecords::Take(int64_t base_ns) {
  NumberSteps();
  TieToOps();
  GiveOverheadItsThread(&records_.host);
  if (base_ns != 0) Shift(base_ns);
  records_.omits_empty_copies = true;
  return std::move(records_);
}

}  // namespace traza
