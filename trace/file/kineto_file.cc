// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "trace/analysis/occupancy.h"
#include "trace/calls_without_work.h"
#include "trace/correlate/correlate.h"
#include "trace/file/kineto_cutter.h"
#include "trace/file/kineto_event.h"
#include "trace/file/kineto_header.h"
#include "trace/file/kineto_records.h"
#include "trace/file/kineto_source.h"
#include "trace/file/open_file.h"
#include "trace/quantity.h"

namespace traza {
namespace {

constexpr size_t kMagicBytes = 2;

Depth DepthOf(const KinetoRecords& records) {
  if (records.has_shapes()) return Depth::kShapes;
  if (records.ops() > 0) return Depth::kOps;
  if (records.calls() > 0) return Depth::kLaunches;
  return records.device_work() > 0 ? Depth::kKernels : Depth::kTiming;
}

// Why there is no device work.
std::string NoDeviceNote(const KinetoRecords& records,
                         const Completeness& losses) {
  const int64_t launches = CallsWithoutWork(losses);
  if (launches > 0) {
    return absl::StrCat(
        "The file has ", CountText(launches),
        launches == 1 ? " call that launches" : " calls that launch",
        ", but no work of a device: another profiler held its tracer, or the "
        "rights to trace it were missing.");
  }
  if (records.calls() > 0) {
    return "The file has calls, but none that launches, and no work of a "
           "device.";
  }
  return "The file has no events of a device: it was recorded without one, or "
         "without ProfilerActivity.CUDA.";
}

// What the file lacks, then what became no row.
std::string NoteOf(const KinetoRecords& records, bool empty,
                   const Completeness& losses) {
  std::vector<std::string> parts;
  if (empty && records.left_out().empty()) {
    parts.emplace_back("The file has no events: nothing was recorded.");
  } else if (empty) {
    parts.emplace_back("No event of the file says what was done.");
  } else if (records.device_work() == 0) {
    parts.push_back(NoDeviceNote(records, losses));
  }
  if (!records.left_out().empty()) {
    const std::string counts = absl::StrJoin(
        records.left_out(), ", ", [](std::string* out, const auto& entry) {
          absl::StrAppend(out, entry.second, " ", entry.first);
        });
    parts.push_back(absl::StrCat("Events that are no rows: ", counts, "."));
  }
  return absl::StrJoin(parts, " ");
}

// The GPU that worked most; where none did, the first that the file describes.
std::optional<int32_t> MainDevice(const RawRecords& records,
                                  const KinetoHeader& header) {
  std::map<int32_t, int64_t> events;
  for (const RawDeviceEvent& event : records.device) {
    if (IsDeviceWork(event.kind)) ++events[event.device];
  }
  std::optional<int32_t> device;
  for (const auto& [number, count] : events) {
    if (!device.has_value() || count > events[*device]) device = number;
  }
  if (!device.has_value() && !header.devices.empty()) {
    device = header.devices.begin()->first;
  }
  return device;
}

Header MakeHeader(const KinetoRecords& counts, const RawRecords& records,
                  const KinetoHeader& file) {
  Header header;
  header.producer = "torch.profiler";
  header.collector = "kineto";
  header.versions = file.versions;
  if (const auto torch = file.versions.find("torch");
      torch != file.versions.end()) {
    absl::StrAppend(&header.producer, " ", torch->second);
  }
  header.host = file.host.value_or("");
  if (file.distributed.has_value()) {
    header.job.labels["distributed"] = *file.distributed;
  }
  header.job.depth = DepthOf(counts);
  header.job.cold_steps = 0;
  // A file without step marks is one step.
  header.job.traced_steps = std::clamp(
      static_cast<int64_t>(records.steps.size()), int64_t{1}, kMaxSteps);
  const std::optional<int32_t> device = MainDevice(records, file);
  if (device.has_value()) {
    const auto described = file.devices.find(*device);
    if (described != file.devices.end()) {
      header.device = described->second;
    } else {
      header.device.kind = DeviceKind::kGpu;
      header.device.id = absl::StrCat("gpu", *device);
    }
  } else {
    header.device.id = "cpu";
  }
  header.job.device = header.device.id;
  return header;
}

// One set of limits for all kernels: devices that differ have none.
std::optional<MultiprocessorLimits> LimitsOf(const RawRecords& records,
                                             const KinetoHeader& file) {
  std::optional<MultiprocessorLimits> limits;
  std::optional<int32_t> last;
  for (const RawDeviceEvent& event : records.device) {
    if (event.kind != EventKind::kKernel || event.device == last) continue;
    last = event.device;
    const auto described = file.devices.find(event.device);
    if (described == file.devices.end() ||
        !described->second.multiprocessor.has_value() ||
        limits.value_or(*described->second.multiprocessor) !=
            *described->second.multiprocessor) {
      return std::nullopt;
    }
    limits = described->second.multiprocessor;
  }
  return limits;
}

absl::StatusOr<Trace> Read(std::unique_ptr<ByteSource> source,
                           absl::string_view head,
                           const KinetoReadLimits& limits) {
  if (IsGzip(head)) source = GzipBytes(std::move(source));
  KinetoCutter cutter(*source, limits.max_bytes, limits.window_bytes);
  KinetoEventReader reader;
  KinetoRecords collected(limits.max_events);
  for (;;) {
    ASSIGN_OR_RETURN(const absl::string_view window, cutter.Next());
    if (window.empty()) break;
    RETURN_IF_ERROR(reader.Read(window, [&](const KinetoEvent& event) {
      return collected.Add(event);
    }));
  }
  const KinetoHeader file = ReadKinetoHeader(cutter.members());
  RawRecords records = collected.Take(file.base_ns);
  const std::optional<MultiprocessorLimits> multiprocessor =
      LimitsOf(records, file);
  Header header = MakeHeader(collected, records, file);
  Trace trace = Correlate(std::move(records), std::move(header));
  trace.header.collector_note =
      NoteOf(collected, trace.rows() == 0, trace.header.completeness);
  // Kineto does not say which calls failed.
  trace.header.completeness.failed_calls.reset();
  if (multiprocessor.has_value()) FillOccupancy(*multiprocessor, &trace);
  return trace;
}

}  // namespace

absl::StatusOr<Trace> ReadKinetoFile(const std::filesystem::path& path,
                                     const KinetoReadLimits& limits) {
  const auto read = [&]() -> absl::StatusOr<Trace> {
    ASSIGN_OR_RETURN(UniqueFd fd, OpenTraceFile(path));
    ASSIGN_OR_RETURN(const std::string head,
                     ReadFileAt(fd.get(), 0, kMagicBytes));
    return Read(FileBytes(std::move(fd)), head, limits);
  };
  absl::StatusOr<Trace> trace = read();
  if (!trace.ok()) return Annotate(trace.status(), path.native());
  return trace;
}

absl::StatusOr<Trace> ReadKineto(absl::string_view bytes,
                                 const KinetoReadLimits& limits) {
  return Read(MemoryBytes(bytes), bytes.substr(0, kMagicBytes), limits);
}

}  // namespace traza
