// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_header.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/utf8.h"
#include "trace/file/json_cursor.h"
#include "trace/file/json_number.h"

namespace traza {
namespace {

constexpr size_t kMaxTextBytes = 256;
constexpr size_t kMaxDevices = 1024;

// The members of an object by name, their values as they are written.
using Object = absl::flat_hash_map<absl::string_view, absl::string_view>;

Object ReadObject(JsonCursor* cursor) {
  Object object;
  if (!cursor->Enter('{')) {
    cursor->Value();
    return object;
  }
  absl::string_view key;
  while (cursor->NextKey(&key)) {
    const absl::string_view value = cursor->Value();
    object[key] = value;
  }
  return object;
}

std::optional<int64_t> IntegerOf(const Object& object, absl::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  return ScaledInteger(found->second, 0);
}

// A number of a device, 0 where it is not said: what needs it then finds it
// unknown.
int32_t LimitOf(const Object& object, absl::string_view key) {
  const int64_t value = IntegerOf(object, key).value_or(0);
  return value >= 0 && value <= std::numeric_limits<int32_t>::max()
             ? static_cast<int32_t>(value)
             : 0;
}

std::optional<std::string> TextOf(absl::string_view value) {
  if (!IsJsonString(value)) return std::nullopt;
  std::string text;
  AppendUnescaped(Unquoted(value), &text);
  return ToValidUtf8(CutUtf8(text, kMaxTextBytes));
}

std::optional<std::string> TextOf(const Object& object, absl::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : TextOf(found->second);
}

MultiprocessorLimits LimitsOf(const Object& device) {
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

DeviceDescription DescriptionOf(int64_t id, const Object& device) {
  DeviceDescription description;
  description.id = absl::StrCat("gpu", id);
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
  return description;
}

void ReadDevices(absl::string_view list, KinetoHeader* header) {
  JsonCursor cursor(list);
  if (!cursor.Enter('[')) return;
  while (cursor.NextElement() && header->devices.size() < kMaxDevices) {
    const Object device = ReadObject(&cursor);
    const std::optional<int64_t> id = IntegerOf(device, "id");
    if (id.has_value() && *id >= 0 &&
        *id <= std::numeric_limits<int32_t>::max()) {
      header->devices.try_emplace(static_cast<int32_t>(*id),
                                  DescriptionOf(*id, device));
    }
  }
}

void ReadDistributed(absl::string_view value, KinetoHeader* header) {
  JsonCursor cursor(value);
  const Object object = ReadObject(&cursor);
  const std::optional<int64_t> rank = IntegerOf(object, "rank");
  const std::optional<int64_t> ranks = IntegerOf(object, "world_size");
  if (!rank.has_value() || !ranks.has_value()) return;
  header->distributed = absl::StrCat("rank ", *rank, " of ", *ranks);
  if (const auto backend = TextOf(object, "backend")) {
    absl::StrAppend(&*header->distributed, ", ", *backend);
  }
}

// "13.0" of 13000; other texts and numbers as they are.
std::string CudaVersion(std::string text) {
  const std::optional<int64_t> number = ScaledInteger(text, 0);
  if (!number.has_value() || *number < 1000) return text;
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

void ReadVersion(const KinetoMember& member, KinetoHeader* header) {
  for (const VersionMember& known : kVersionMembers) {
    if (member.key != known.theirs) continue;
    std::string text =
        TextOf(member.value)
            .value_or(ToValidUtf8(CutUtf8(member.value, kMaxTextBytes)));
    header->versions[known.ours] =
        known.is_cuda ? CudaVersion(std::move(text)) : std::move(text);
  }
}

}  // namespace

KinetoHeader ReadKinetoHeader(const std::vector<KinetoMember>& members) {
  KinetoHeader header;
  for (const KinetoMember& member : members) {
    if (member.key == "baseTimeNanoseconds") {
      header.base_ns = ScaledInteger(member.value, 0).value_or(0);
    } else if (member.key == "deviceProperties") {
      ReadDevices(member.value, &header);
    } else if (member.key == "distributedInfo") {
      ReadDistributed(member.value, &header);
    } else if (member.key == "traceName") {
      header.trace_name = TextOf(member.value);
    } else if (member.key == "hostname" || member.key == "host_name") {
      header.host = TextOf(member.value);
    } else {
      ReadVersion(member, &header);
    }
  }
  return header;
}

}  // namespace traza
