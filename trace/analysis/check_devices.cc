// SPDX-License-Identifier: Apache-2.0
// Quantities of one device, in the window of the traced steps.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "trace/analysis/check_observe.h"
#include "trace/analysis/check_quantity.h"
#include "trace/quantity.h"

namespace traza {
namespace {

// The device that the expression is about: the one it names, else the only one.
// Null, and why, when there is none or several.
const DeviceBreakdown* DeviceOf(const CheckSubject& subject,
                                const CheckExpression& check,
                                std::string* why) {
  const std::vector<DeviceBreakdown>& devices = subject.answer().breakdown;
  if (devices.empty()) {
    *why = subject.MissingDeviceWork();
    if (why->empty()) *why = "No device did any work.";
    return nullptr;
  }
  if (!check.device.has_value() && devices.size() == 1) return &devices.front();
  std::vector<int32_t> numbers;
  for (const DeviceBreakdown& device : devices) {
    if (check.device == device.device) return &device;
    numbers.push_back(device.device);
  }
  const std::string known = absl::StrJoin(numbers, ", ");
  if (check.device.has_value()) {
    *why = absl::StrCat("Device ", *check.device,
                        " did no work; these did: ", known, ".");
  } else {
    *why = absl::StrCat("Several devices worked (", known,
                        "): say which, as in ", check.quantity->name, "(",
                        check.word.empty() ? "" : absl::StrCat(check.word, ","),
                        numbers.front(), ").");
  }
  return nullptr;
}

Observation ShareOfWindow(const DeviceBreakdown& device, int64_t part_ns,
                          const char* numerator) {
  if (device.window_ns <= 0) {
    return Observation::Missing("The traced steps take no time.");
  }
  Observation observation = Observation::Of(
      static_cast<double>(part_ns) / static_cast<double>(device.window_ns));
  observation.numerator = numerator;
  observation.denominator = "window of the traced steps";
  observation.notes.push_back(
      absl::StrCat(NsText(static_cast<double>(part_ns)), " of ",
                   NsText(static_cast<double>(device.window_ns)), "."));
  return observation;
}

struct IdleWord {
  const char* word;
  std::optional<int64_t> IdleClasses::* ns;
};
constexpr std::array kIdleWords = {
    IdleWord{"profiler", &IdleClasses::profiler_ns},
    IdleWord{"sync", &IdleClasses::sync_ns},
    IdleWord{"host", &IdleClasses::host_ns},
    IdleWord{"launch", &IdleClasses::launch_ns},
    IdleWord{"dependency", &IdleClasses::dependency_ns},
    IdleWord{"kernel_gap", &IdleClasses::kernel_gap_ns},
    IdleWord{"other", &IdleClasses::other_ns},
    IdleWord{"unknown", &IdleClasses::unknown_ns}};

std::optional<int64_t> ClassOf(const IdleClasses& classes,
                               const std::string& word) {
  for (const IdleWord& known : kIdleWords) {
    if (word == known.word) return classes.*known.ns;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> IdleClassWords() {
  std::vector<std::string> words;
  for (const IdleWord& known : kIdleWords) words.emplace_back(known.word);
  return words;
}

Observation ObserveBusy(const CheckSubject& subject,
                        const CheckExpression& check) {
  std::string why;
  const DeviceBreakdown* const device = DeviceOf(subject, check, &why);
  if (device == nullptr) return Observation::Missing(std::move(why));
  return ShareOfWindow(*device, device->busy_ns, "device busy");
}

Observation ObserveIdle(const CheckSubject& subject,
                        const CheckExpression& check) {
  std::string why;
  const DeviceBreakdown* const device = DeviceOf(subject, check, &why);
  if (device == nullptr) return Observation::Missing(std::move(why));
  return ShareOfWindow(*device, device->idle_ns, "device idle");
}

Observation ObserveIdleClass(const CheckSubject& subject,
                             const CheckExpression& check) {
  std::string why;
  const DeviceBreakdown* const device = DeviceOf(subject, check, &why);
  if (device == nullptr) return Observation::Missing(std::move(why));
  const std::optional<int64_t> ns = ClassOf(device->idle_classes, check.word);
  if (!ns.has_value()) {
    why = subject.MissingCalls();
    return Observation::Missing(
        why.empty() ? absl::StrCat("The trace cannot tell the idle class ",
                                   check.word, " from others.")
                    : why);
  }
  return ShareOfWindow(*device, *ns, "device idle of that class");
}

Observation ObserveBusyPerStep(const CheckSubject& subject,
                               const CheckExpression& check) {
  std::string why;
  const DeviceBreakdown* const device = DeviceOf(subject, check, &why);
  if (device == nullptr) return Observation::Missing(std::move(why));
  if (!device->busy_per_step_p50_ns.has_value()) {
    return Observation::Missing(absl::StrCat(
        "No step is known of the device work: ", subject.HowToRecordCalls(),
        "."));
  }
  return Observation::Of(static_cast<double>(*device->busy_per_step_p50_ns));
}

Observation ObserveLaunchLatency(const CheckSubject& subject,
                                 const CheckExpression& check) {
  std::string why = subject.MissingCalls();
  if (!why.empty()) return Observation::Missing(std::move(why));
  const DeviceBreakdown* const device = DeviceOf(subject, check, &why);
  if (device == nullptr) return Observation::Missing(std::move(why));
  std::optional<int64_t> value;
  if (device->launches.has_value()) {
    const LaunchStats& launches = *device->launches;
    switch (check.quantity->statistic) {
      case CheckStatistic::kP90:
        value = launches.latency_p90_ns;
        break;
      case CheckStatistic::kP99:
        value = launches.latency_p99_ns;
        break;
      default:
        value = launches.latency_p50_ns;
    }
  }
  if (!value.has_value()) {
    return Observation::Missing(
        "No kernel was launched to a stream that had nothing else to do, so no "
        "latency could be seen.");
  }
  Observation observation = Observation::Of(static_cast<double>(*value));
  observation.notes.push_back(absl::StrCat(
      "Of ", CountText(device->launches->latency_samples, "kernel"),
      " launched to an idle stream."));
  return observation;
}

}  // namespace traza
