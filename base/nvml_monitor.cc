// SPDX-License-Identifier: Apache-2.0
#include "base/nvml_monitor.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace traza {

using nvml::Device;
using nvml::Return;

struct NvmlMonitor::Api {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  const char* (*error_text)(Return) = nullptr;
  Return (*by_uuid)(const char*, Device*) = nullptr;
  Return (*count)(unsigned int*) = nullptr;
  Return (*by_number)(unsigned int, Device*) = nullptr;
  Return (*uuid)(Device, char*, unsigned int) = nullptr;
  Return (*whole)(Device, Device*) = nullptr;
  Return (*clock)(Device, int, unsigned int*) = nullptr;
  Return (*power)(Device, unsigned int*) = nullptr;
  Return (*energy)(Device, uint64_t*) = nullptr;
  Return (*temperature)(Device, int, unsigned int*) = nullptr;
  Return (*temperature_v)(Device, nvml::Temperature*) = nullptr;
  Return (*memory)(Device, nvml::Memory*) = nullptr;
  Return (*reasons)(Device, uint64_t*) = nullptr;
  Return (*utilization)(Device, nvml::Utilization*) = nullptr;
  Return (*processes)(Device, unsigned int*, nvml::Process*) = nullptr;
  Return (*fields)(Device, int, nvml::FieldValue*) = nullptr;
};

namespace {

using Api = NvmlMonitor::Api;

constexpr unsigned int kMaxProcesses = 1024;
constexpr unsigned int kUsualProcesses = 32;
constexpr unsigned int kUuidBytes = 96;
constexpr double kMilli = 1e-3;
constexpr double kNano = 1e-9;
constexpr int64_t kMega = 1'000'000;

// Sets `function` to the first of the names that the library has.
template <typename Function>
bool Load(void* library, std::initializer_list<const char*> names,
          Function** function) {
  for (const char* const name : names) {
    *function = reinterpret_cast<Function*>(dlsym(library, name));
    if (*function != nullptr) return true;
  }
  return false;
}

void LoadReaders(void* library, Api* api) {
  Load(library, {"nvmlErrorString"}, &api->error_text);
  Load(library, {"nvmlDeviceGetCount_v2"}, &api->count);
  Load(library, {"nvmlDeviceGetHandleByIndex_v2"}, &api->by_number);
  Load(library, {"nvmlDeviceGetUUID"}, &api->uuid);
  Load(library, {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"}, &api->whole);
  Load(library, {"nvmlDeviceGetClockInfo"}, &api->clock);
  Load(library, {"nvmlDeviceGetPowerUsage"}, &api->power);
  Load(library, {"nvmlDeviceGetTotalEnergyConsumption"}, &api->energy);
  // Deprecated since 13.0, and the only one before.
  Load(library, {"nvmlDeviceGetTemperature"}, &api->temperature);
  Load(library, {"nvmlDeviceGetTemperatureV"}, &api->temperature_v);
  Load(library, {"nvmlDeviceGetMemoryInfo_v2"}, &api->memory);
  Load(library,
       {"nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons"},
       &api->reasons);
  Load(library, {"nvmlDeviceGetUtilizationRates"}, &api->utilization);
  Load(library,
       {"nvmlDeviceGetComputeRunningProcesses_v3",
        "nvmlDeviceGetComputeRunningProcesses_v2"},
       &api->processes);
  Load(library, {"nvmlDeviceGetFieldValues"}, &api->fields);
}

std::string Text(const Api& api, Return result) {
  const char* const text =
      api.error_text == nullptr ? nullptr : api.error_text(result);
  return absl::StrCat(text == nullptr ? "error" : text, " (", result, ")");
}

// The GPU, or the whole driver, answers nothing any more.
bool IsLost(Return result) {
  return result == nvml::kGpuIsLost || result == nvml::kResetRequired ||
         result == nvml::kUninitialized || result == nvml::kDriverNotLoaded ||
         result == nvml::kVersionMismatch;
}

// This GPU or this driver does not have the value.
bool IsUnsupported(Return result) {
  return result == nvml::kNotSupported || result == nvml::kFunctionNotFound ||
         result == nvml::kNoData || result == nvml::kArgumentVersionMismatch ||
         result == nvml::kDeprecated;
}

std::vector<std::string> ReasonNames(uint64_t bits) {
  std::vector<std::string> names;
  const std::vector<std::string>& known = KnownThrottleReasons();
  for (size_t i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    if ((bits & bit) == 0) continue;
    names.push_back(i < known.size()
                        ? known[i]
                        : absl::StrCat("reason_0x", absl::Hex(bit)));
  }
  return names;
}

// Fills one reading. After a lost GPU nothing more is called.
class Reader {
 public:
  Reader(const Api& api, Device part, Device whole)
      : api_(api), part_(part), whole_(whole) {}

  absl::StatusOr<GpuReading> Read(GpuFields fields) {
    ReadClocks();
    ReadFieldValues();
    ReadPower();
    ReadTemperature();
    ReadMemory();
    if (fields == GpuFields::kAll) {
      ReadEnergy();
      ReadBusy();
      ReadProcesses();
    }
    if (lost_ != nvml::kSuccess) {
      return absl::UnavailableError(
          absl::StrCat("The GPU does not answer: ", Text(api_, lost_), "."));
    }
    return std::move(reading_);
  }

 private:
  // False when there is no value: `field` gets an error unless it is one that
  // this GPU does not have.
  bool Note(absl::string_view field, Return result) {
    if (result == nvml::kSuccess) return true;
    if (IsLost(result)) {
      lost_ = result;
    } else if (!IsUnsupported(result)) {
      reading_.errors[std::string(field)] = Text(api_, result);
    }
    return false;
  }
  template <typename Function, typename... Args>
  bool Call(absl::string_view field, Function* function, Args... args) {
    if (function == nullptr || lost_ != nvml::kSuccess) return false;
    return Note(field, function(args...));
  }

  void ReadClocks() {
    unsigned int mhz = 0;
    if (Call("sm_clock", api_.clock, whole_, nvml::kClockSm, &mhz)) {
      reading_.sm_clock_hz = mhz * kMega;
    }
    if (Call("memory_clock", api_.clock, whole_, nvml::kClockMemory, &mhz)) {
      reading_.memory_clock_hz = mhz * kMega;
    }
    uint64_t bits = 0;
    if (Call("throttle_reasons", api_.reasons, whole_, &bits)) {
      reading_.throttle_reasons = ReasonNames(bits);
    }
  }

  // One call for values that older drivers do not know one by one.
  void ReadFieldValues() {
    static constexpr std::pair<unsigned int, const char*> kTimes[] = {
        {nvml::kFieldSwPowerCapNs, "sw_power_cap"},
        {nvml::kFieldSyncBoostNs, "sync_boost"},
        {nvml::kFieldSwThermalNs, "sw_thermal_slowdown"},
        {nvml::kFieldHwThermalNs, "hw_thermal_slowdown"},
        {nvml::kFieldHwPowerBrakeNs, "hw_power_brake_slowdown"}};
    std::array<nvml::FieldValue, std::size(kTimes) + 1> values = {};
    for (size_t i = 0; i < std::size(kTimes); ++i) {
      values[i].field = kTimes[i].first;
    }
    values.back().field = nvml::kFieldPowerInstant;
    if (!Call("throttled_time", api_.fields, whole_,
              static_cast<int>(values.size()), values.data())) {
      return;
    }
    for (size_t i = 0; i < std::size(kTimes); ++i) {
      if (NoteField("throttled_time", values[i])) {
        reading_.throttled_seconds[kTimes[i].second] =
            static_cast<double>(values[i].value.u64) * kNano;
      }
    }
    if (NoteField("power", values.back())) {
      reading_.instant_power_watts = values.back().value.u32 * kMilli;
    }
  }
  bool NoteField(absl::string_view name, const nvml::FieldValue& field) {
    // What a driver calls a field of which it has never heard.
    if (field.result == nvml::kInvalidArgument) return false;
    return Note(name, field.result);
  }

  void ReadPower() {
    unsigned int milliwatts = 0;
    if (Call("power", api_.power, whole_, &milliwatts)) {
      reading_.power_watts = milliwatts * kMilli;
    }
  }

  void ReadTemperature() {
    unsigned int celsius = 0;
    if (Call("temperature", api_.temperature, whole_, nvml::kTemperatureGpu,
             &celsius)) {
      reading_.temperature_celsius = celsius;
      return;
    }
    nvml::Temperature newer = {.version = nvml::kTemperatureVersion,
                               .sensor = nvml::kTemperatureGpu};
    if (api_.temperature_v == nullptr) return;
    reading_.errors.erase("temperature");
    if (Call("temperature", api_.temperature_v, whole_, &newer)) {
      reading_.temperature_celsius = newer.celsius;
    }
  }

  void ReadMemory() {
    nvml::Memory memory = {.version = nvml::kMemoryVersion};
    if (Call("memory", api_.memory, part_, &memory)) {
      reading_.memory_used_bytes = static_cast<int64_t>(memory.used);
      reading_.memory_total_bytes = static_cast<int64_t>(memory.total);
    }
  }

  void ReadEnergy() {
    uint64_t millijoules = 0;
    if (Call("energy", api_.energy, whole_, &millijoules)) {
      reading_.energy_joules = static_cast<double>(millijoules) * kMilli;
    }
  }

  void ReadBusy() {
    nvml::Utilization utilization = {};
    if (Call("busy", api_.utilization, whole_, &utilization)) {
      reading_.busy_ratio = utilization.gpu / 100.0;
    }
  }

  void ReadProcesses() {
    if (api_.processes == nullptr || lost_ != nvml::kSuccess) return;
    std::vector<nvml::Process> list(kUsualProcesses);
    auto count = static_cast<unsigned int>(list.size());
    Return result = api_.processes(part_, &count, list.data());
    // More may have come meanwhile: twice the room.
    while (result == nvml::kInsufficientSize && list.size() < kMaxProcesses) {
      list.resize(std::clamp<size_t>(2 * size_t{count}, 2 * list.size(),
                                     kMaxProcesses));
      count = static_cast<unsigned int>(list.size());
      result = api_.processes(part_, &count, list.data());
    }
    if (!Note("processes", result)) return;
    std::vector<GpuProcess>& processes = reading_.processes.emplace();
    for (unsigned int i = 0; i < std::min<size_t>(count, list.size()); ++i) {
      GpuProcess& process = processes.emplace_back();
      process.pid = static_cast<pid_t>(list[i].pid);
      if (list[i].used_bytes != nvml::kNotAvailable) {
        process.memory_bytes = static_cast<int64_t>(list[i].used_bytes);
      }
    }
  }

  const Api& api_;
  const Device part_;
  const Device whole_;
  GpuReading reading_;
  Return lost_ = nvml::kSuccess;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NvmlMonitor>> NvmlMonitor::Open(
    const std::string& path) {
  // Never closed: threads of the driver may still run in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): each thread has its own in glibc.
    const char* const text = dlerror();
    return absl::NotFoundError(absl::StrCat(
        "There is no NVIDIA driver: ", text == nullptr ? path : text, "."));
  }
  auto api = std::make_unique<Api>();
  const bool whole =
      Load(library, {"nvmlInit_v2"}, &api->init) &&
      Load(library, {"nvmlShutdown"}, &api->shutdown) &&
      Load(library, {"nvmlDeviceGetHandleByUUID"}, &api->by_uuid);
  if (!whole) return absl::NotFoundError("The NVIDIA driver is too old.");
  LoadReaders(library, api.get());
  if (const Return result = api->init(); result != nvml::kSuccess) {
    const std::string text = absl::StrCat(
        "The NVIDIA driver does not start: ", Text(*api, result), ".");
    return result == nvml::kDriverNotLoaded ? absl::NotFoundError(text)
                                            : absl::UnavailableError(text);
  }
  return std::unique_ptr<NvmlMonitor>(new NvmlMonitor(std::move(api)));
}

NvmlMonitor::NvmlMonitor(std::unique_ptr<const Api> api)
    : api_(std::move(api)) {}

NvmlMonitor::~NvmlMonitor() { api_->shutdown(); }

absl::StatusOr<GpuReading> NvmlMonitor::Read(absl::string_view uuid,
                                             GpuFields fields) {
  ASSIGN_OR_RETURN(const Handles handles, Find(uuid));
  absl::StatusOr<GpuReading> reading =
      Reader(*api_, handles.part, handles.whole).Read(fields);
  if (!reading.ok()) {
    // After a reset the GPU has another one.
    const MutexLock lock(mu_);
    handles_.clear();
  }
  return reading;
}

absl::StatusOr<NvmlMonitor::Handles> NvmlMonitor::Find(absl::string_view uuid) {
  const std::string key(uuid);
  {
    const MutexLock lock(mu_);
    const auto found = handles_.find(key);
    if (found != handles_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(const Handles handles, Look(key));
  const MutexLock lock(mu_);
  handles_[key] = handles;
  return handles;
}

absl::StatusOr<NvmlMonitor::Handles> NvmlMonitor::Look(
    const std::string& uuid) const {
  Handles handles;
  Return result = api_->by_uuid(uuid.c_str(), &handles.part);
  // One GPU that is lost makes that fail for all of them.
  if (result == nvml::kGpuIsLost) {
    result = LookByNumber(uuid, &handles.part);
  }
  if (result == nvml::kNotFound || result == nvml::kInvalidArgument) {
    return absl::NotFoundError(
        absl::StrCat("The NVIDIA driver has no GPU ", uuid, "."));
  }
  if (result != nvml::kSuccess) {
    return absl::UnavailableError(
        absl::StrCat("The GPU does not answer: ", Text(*api_, result), "."));
  }
  handles.whole = handles.part;
  if (absl::StartsWith(uuid, "MIG-") && api_->whole != nullptr) {
    Device whole = nullptr;
    if (api_->whole(handles.part, &whole) == nvml::kSuccess) {
      handles.whole = whole;
    }
  }
  return handles;
}

Return NvmlMonitor::LookByNumber(const std::string& uuid,
                                 Device* device) const {
  unsigned int count = 0;
  if (api_->count == nullptr || api_->by_number == nullptr ||
      api_->uuid == nullptr || api_->count(&count) != nvml::kSuccess) {
    return nvml::kGpuIsLost;
  }
  bool any_lost = false;
  for (unsigned int i = 0; i < count; ++i) {
    Device candidate = nullptr;
    char text[kUuidBytes] = {};
    if (api_->by_number(i, &candidate) != nvml::kSuccess ||
        api_->uuid(candidate, text, kUuidBytes) != nvml::kSuccess) {
      any_lost = true;
    } else if (uuid == text) {
      *device = candidate;
      return nvml::kSuccess;
    }
  }
  return any_lost ? nvml::kGpuIsLost : nvml::kNotFound;
}

}  // namespace traza
