// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_header.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "simdjson.h"

#include "base/utf8.h"
#include "trace/file/json_number.h"

namespace traza {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kMaxTextBytes = 256;
constexpr size_t kMaxDevices = 1024;

std::optional<int64_t> IntegerOf(const dom::element& parent, const char* key) {
  int64_t value = 0;
  if (parent[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

// A number of a device, 0 where it is not said: what needs it then finds it
// unknown.
int32_t LimitOf(const dom::element& parent, const char* key) {
  const int64_t value = IntegerOf(parent, key).value_or(0);
  return value >= 0 && value <= std::numeric_limits<int32_t>::max()
             ? static_cast<int32_t>(value)
             : 0;
}

std::optional<std::string> TextOf(const dom::element& element) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return std::nullopt;
  return std::string(
      CutUtf8(absl::string_view(text.data(), text.size()), kMaxTextBytes));
}

std::optional<std::string> TextOf(const dom::element& parent, const char* key) {
  dom::element element;
  if (parent[key].get(element) != simdjson::SUCCESS) return std::nullopt;
  return TextOf(element);
}

MultiprocessorLimits LimitsOf(const dom::element& device) {
  MultiprocessorLimits limits;
  limits.count = LimitOf(device, "numSms");
  limits.compute_major = LimitOf(device, "computeMajor");
  limits.compute_minor = LimitOf(device, "computeMinor");
  limits.warp_threads = LimitOf(device, "warpSize");
  limits.max_threads_per_block = LimitOf(device, "maxThreadsPerBlock");
  limits.max_threads = LimitOf(device, "maxThreadsPerMultiprocessor");
  limits.registers_per_block = LimitOf(device, "regsPerBlock");
  limits.registers = LimitOf(device, "regsPerMultiprocessor");
  limits.shared_bytes_per_block = LimitOf(device, "sharedMemPerBlock");
  limits.shared_bytes_per_block_optin =
      LimitOf(device, "sharedMemPerBlockOptin");
  limits.shared_bytes = LimitOf(device, "sharedMemPerMultiprocessor");
  // Not in the file. What the driver takes is what a block cannot have of a
  // multiprocessor: 1 KiB from compute capability 8.0 on, nothing before.
  if (limits.shared_bytes > limits.shared_bytes_per_block_optin) {
    limits.shared_bytes_reserved_per_block =
        limits.shared_bytes - limits.shared_bytes_per_block_optin;
  }
  return limits;
}

// Older files lack some of the numbers: then occupancy is unknown.
bool IsComplete(const MultiprocessorLimits& limits) {
  return limits.count > 0 && limits.compute_major > 0 &&
         limits.warp_threads > 0 && limits.max_threads_per_block > 0 &&
         limits.max_threads > 0 && limits.registers_per_block > 0 &&
         limits.registers > 0 && limits.shared_bytes_per_block > 0 &&
         limits.shared_bytes_per_block_optin > 0 && limits.shared_bytes > 0;
}

void ReadDevices(const dom::element& list, KinetoHeader* header) {
  dom::array devices;
  if (list.get(devices) != simdjson::SUCCESS) return;
  for (const dom::element device : devices) {
    const std::optional<int64_t> id = IntegerOf(device, "id");
    if (!id.has_value() || *id < 0 || *id > std::numeric_limits<int32_t>::max())
      continue;
    if (header->devices.size() == kMaxDevices) return;
    DeviceDescription& description = header->devices[static_cast<int32_t>(*id)];
    description.id = absl::StrCat("gpu", *id);
    description.kind = DeviceKind::kGpu;
    description.model = TextOf(device, "name").value_or("");
    description.memory_bytes = IntegerOf(device, "totalGlobalMem").value_or(0);
    const MultiprocessorLimits limits = LimitsOf(device);
    description.cores = limits.count;
    if (limits.compute_major > 0) {
      description.compute_capability =
          absl::StrCat(limits.compute_major, ".", limits.compute_minor);
    }
    if (IsComplete(limits)) description.multiprocessor = limits;
  }
}

void ReadDistributed(const dom::element& value, KinetoHeader* header) {
  const std::optional<int64_t> rank = IntegerOf(value, "rank");
  const std::optional<int64_t> ranks = IntegerOf(value, "world_size");
  if (!rank.has_value() || !ranks.has_value()) return;
  header->distributed = absl::StrCat("rank ", *rank, " of ", *ranks);
  if (const auto backend = TextOf(value, "backend")) {
    absl::StrAppend(&*header->distributed, ", ", *backend);
  }
}

// "13.0" of 13000; other texts and numbers as they are.
std::string CudaVersion(absl::string_view json) {
  const std::optional<int64_t> number = ScaledInteger(json, 0);
  if (!number.has_value() || *number < 1000) return std::string(json);
  return absl::StrCat(*number / 1000, ".", *number % 1000 / 10);
}

// Members that name a version, and what we call it.
struct VersionMember {
  absl::string_view theirs;
  const char* ours;
  bool is_cuda;
};
constexpr VersionMember kVersionMembers[] = {
    {"cuda_driver_version", "cuda", true},
    {"cuda_runtime_version", "cuda_runtime", true},
    {"cupti_version", "cupti", false},
    {"hip_driver_version", "hip_driver", false},
    {"hip_runtime_version", "hip", false},
    {"pytorch_version", "torch", false},
    {"torch_version", "torch", false},
};

void ReadMember(const KinetoMember& member, const dom::element& value,
                KinetoHeader* header) {
  if (member.key == "baseTimeNanoseconds") {
    header->base_ns = ScaledInteger(member.value, 0).value_or(0);
  } else if (member.key == "deviceProperties") {
    ReadDevices(value, header);
  } else if (member.key == "distributedInfo") {
    ReadDistributed(value, header);
  } else if (member.key == "traceName") {
    header->trace_name = TextOf(value);
  } else if (member.key == "hostname" || member.key == "host_name") {
    header->host = TextOf(value);
  }
  for (const VersionMember& known : kVersionMembers) {
    if (member.key != known.theirs) continue;
    const std::string text = TextOf(value).value_or(
        std::string(CutUtf8(member.value, kMaxTextBytes)));
    header->versions[known.ours] = known.is_cuda ? CudaVersion(text) : text;
  }
}

}  // namespace

KinetoHeader ReadKinetoHeader(const std::vector<KinetoMember>& members) {
  KinetoHeader header;
  dom::parser parser;
  for (const KinetoMember& member : members) {
    dom::element value;
    if (parser.parse(member.value).get(value) == simdjson::SUCCESS) {
      ReadMember(member, value, &header);
    }
  }
  return header;
}

}  // namespace traza
