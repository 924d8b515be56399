// SPDX-License-Identifier: Apache-2.0
#include "trace/render/render_device.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/utf8.h"
#include "trace/quantity.h"
#include "trace/render/text_table.h"

namespace traza {
namespace {

// Of the devices of a trace; others are counted.
constexpr size_t kMaxDevices = 8;
// Idle ends of the window that are worth a line.
constexpr double kMinEnds = 0.05;

std::string Share(const DeviceBreakdown& device, int64_t ns) {
  return device.window_ns > 0
             ? PercentText(static_cast<double>(ns) /
                           static_cast<double>(device.window_ns))
             : "n/a";
}

void AddRow(const DeviceBreakdown& device, std::string label, int64_t ns,
            TextTable* table) {
  table->AddRow(
      {std::move(label), FormatNs(static_cast<double>(ns)), Share(device, ns)});
}

// A part of the time; not worth a line where it is nothing or not known.
void AddPart(const DeviceBreakdown& device, const std::string& label,
             const std::optional<int64_t>& ns, TextTable* table) {
  if (ns.value_or(0) == 0) return;
  AddRow(device, absl::StrCat(kIndent, label), *ns, table);
}

void AddTable(const DeviceBreakdown& device, Page* page) {
  const IdleClasses& idle = device.idle_classes;
  TextTable table(
      {{absl::StrCat("Device ", device.device), 9}, {"Time", 8}, {"Share", 9}});
  AddRow(device, "busy", device.busy_ns, &table);
  AddPart(device, "compute", device.compute_ns, &table);
  AddPart(device, "communication", device.communication_ns, &table);
  AddPart(device, "copy", device.copy_ns, &table);
  AddRow(device, "idle", device.idle_ns, &table);
  AddPart(device, "host: nothing launched yet", idle.host_ns, &table);
  AddPart(device, "sync: the CPU synchronises", idle.sync_ns, &table);
  AddPart(device, "launch: called, not begun", idle.launch_ns, &table);
  AddPart(device, "dependency: waits for an event", idle.dependency_ns, &table);
  AddPart(device,
          absl::StrCat("kernel gap: queued, below ",
                       NsOrNone(device.kernel_gap_limit_ns)),
          idle.kernel_gap_ns, &table);
  AddPart(device, "other: called long before", idle.other_ns, &table);
  AddPart(device, "profiler: the tracer at work", idle.profiler_ns, &table);
  AddPart(device, "unknown: no call recorded", idle.unknown_ns, &table);
  table.AddTotals(
      {absl::StrCat("window, ", CountText(device.records, "record")),
       FormatNs(static_cast<double>(device.window_ns)),
       Share(device, device.window_ns)});
  page->Append(table.Render(page->options()));
}

void AddEnds(const DeviceBreakdown& device, Page* page) {
  const int64_t head = device.head_ns.value_or(0);
  const int64_t tail = device.tail_ns.value_or(0);
  if (static_cast<double>(head + tail) <
      kMinEnds * static_cast<double>(device.window_ns)) {
    return;
  }
  page->Paragraph("Ends: ",
                  absl::StrCat("idle ", NsOrNone(device.head_ns),
                               " before the first work, ",
                               NsOrNone(device.tail_ns), " after the last."));
}

// "; while the device works, 1.92 of them at once on average". Nothing where
// some streams are not told.
std::string BesideText(const DeviceBreakdown& device) {
  double sum = 0;
  for (const StreamBusy& stream : device.streams) {
    sum += static_cast<double>(stream.busy_ns);
  }
  if (device.busy_ns <= 0 ||
      device.stream_count > static_cast<int64_t>(device.streams.size())) {
    return "";
  }
  return absl::StrCat("; while the device works, ",
                      MeanText(sum / static_cast<double>(device.busy_ns), 3),
                      " of them at once on average");
}

// Worth words where there are several, or copies that something could hide.
void AddStreams(const DeviceBreakdown& device, Page* page) {
  constexpr size_t kShownStreams = 4;
  if (device.stream_count > 1) {
    std::vector<std::string> texts;
    for (const StreamBusy& stream : device.streams) {
      if (texts.size() == kShownStreams) break;
      texts.push_back(absl::StrCat(
          stream.stream.has_value() ? absl::StrCat(*stream.stream) : "unnamed",
          " busy ", Share(device, stream.busy_ns)));
    }
    const auto left = device.stream_count - static_cast<int64_t>(texts.size());
    if (left > 0) texts.push_back(absl::StrCat(CountText(left), " more"));
    page->Paragraph("Streams: ", absl::StrCat(absl::StrJoin(texts, ", "),
                                              BesideText(device), "."));
  }
  if (device.copy_overlap.has_value() && device.stream_count > 1) {
    page->Paragraph("Copies: ", absl::StrCat(PercentText(*device.copy_overlap),
                                             " of their time beside compute."));
  }
}

void AddLaunches(const LaunchStats& launches, Page* page) {
  std::string text =
      absl::StrCat(CountText(launches.idle), " of ",
                   CountText(launches.launches), " found their stream idle");
  if (launches.queueing_p50_ns.has_value()) {
    absl::StrAppend(&text, ", the others queued ",
                    NsOrNone(launches.queueing_p50_ns), " (median)");
    const int64_t just = launches.late.value_or(0) - launches.idle;
    if (just > 0) {
      absl::StrAppend(&text, ", ", CountText(just),
                      " of them less than a launch latency");
    }
  }
  if (launches.waiting_mean.has_value()) {
    absl::StrAppend(&text, "; ", MeanText(*launches.waiting_mean, 3),
                    " waiting on average, at most ",
                    CountText(launches.waiting_max));
  }
  page->Paragraph("Launches: ", absl::StrCat(text, "."));
  if (launches.latency_p50_ns.has_value()) {
    page->Paragraph(
        "Launch latency: ",
        absl::StrCat("median ", NsOrNone(launches.latency_p50_ns), ", p90 ",
                     NsOrNone(launches.latency_p90_ns), ", p99 ",
                     NsOrNone(launches.latency_p99_ns), ", least ",
                     NsOrNone(launches.latency_min_ns), " (",
                     CountText(launches.latency_samples, "kernel"),
                     " on an idle stream)."));
  } else {
    page->Paragraph("Launch latency: ",
                    "n/a: no kernel was launched on an idle stream.");
  }
}

std::string Percent(const Verdict& verdict, const std::string& name) {
  const auto number = verdict.numbers.find(name);
  return number == verdict.numbers.end() ? "n/a"
                                         : PercentText(number->second.value);
}

// What the launches decide: nothing where a share is clear by itself.
std::string LaunchesFrom(const Verdict& verdict) {
  const auto value = [&](const char* name, double otherwise) {
    const auto number = verdict.numbers.find(name);
    return number == verdict.numbers.end() ? otherwise : number->second.value;
  };
  const double clear = value("clear_from", 2);
  return std::max(value("device_busy", 0), value("device_waiting", 0)) < clear
             ? "overhead-bound from half"
             : absl::StrCat("not asked from ", PercentText(clear, 2), " on");
}

std::string From(const Verdict& verdict, const char* what, const char* name) {
  const auto number = verdict.numbers.find(name);
  if (number == verdict.numbers.end()) return "n/a";
  return absl::StrCat(what, " from ", PercentText(number->second.value, 2));
}

}  // namespace

void AddDevices(const std::vector<DeviceBreakdown>& devices, Page* page) {
  for (size_t i = 0; i < std::min(kMaxDevices, devices.size()); ++i) {
    page->Blank();
    AddTable(devices[i], page);
    AddEnds(devices[i], page);
    AddStreams(devices[i], page);
    if (devices[i].launches.has_value()) {
      AddLaunches(*devices[i].launches, page);
    }
  }
  if (devices.size() > kMaxDevices) {
    page->Paragraph("", absl::StrCat("And ", devices.size() - kMaxDevices,
                                     " other devices."));
  }
}

void AddGrounds(const Verdict& verdict, Page* page) {
  if (verdict.numbers.count("device_busy") == 0) return;
  page->Blank();
  TextTable table({{"The verdict rests on", 9},
                   {"Traced", 8},
                   {"Untraced", 6},
                   {"Threshold", 7}});
  table.AddRow({"device busy", Percent(verdict, "device_busy"),
                Percent(verdict, "device_busy_untraced"),
                From(verdict, "gpu-bound", "gpu_bound_from")});
  table.AddRow({"waiting for host, sync, launch",
                Percent(verdict, "device_waiting"),
                Percent(verdict, "device_waiting_untraced"),
                From(verdict, "overhead-bound", "overhead_bound_from")});
  table.AddRow({"launches that came too late",
                Percent(verdict, "late_launches"), "", LaunchesFrom(verdict)});
  table.AddRow({"copies alone", Percent(verdict, "copies"), "",
                From(verdict, "copy-bound", "copy_bound_from")});
  table.AddRow({"matrix kernels, of device work",
                Percent(verdict, "matrix_kernels"), "",
                From(verdict, "compute-bound", "compute_bound_from")});
  page->Append(table.Render(page->options()));
  if (!verdict.reasons.empty()) {
    page->Paragraph("Less sure because: ",
                    EscapeControlCharacters(absl::StrCat(
                        absl::StrJoin(verdict.reasons, "; "), ".")));
  }
}

}  // namespace traza
