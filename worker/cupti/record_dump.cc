// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/record_dump.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cupti.h"
#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "worker/cupti/record_decoder.h"

namespace traza {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{256} << 20;

bool IsKernel(const CUpti_Activity& record) {
  return record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
         record.kind == CUPTI_ACTIVITY_KIND_KERNEL;
}

// Calls `visit` with every record of the buffer.
template <typename Visit>
void ForEachRecord(std::string* buffer, Visit visit) {
  auto* const data = reinterpret_cast<uint8_t*>(buffer->data());
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(data, buffer->size(), &record) ==
         CUPTI_SUCCESS) {
    visit(*record);
  }
}

// What is no name: it pointed into the process that recorded.
void ClearPointers(CUpti_Activity& record) {
  if (IsKernel(record)) {
    auto& kernel = reinterpret_cast<CUpti_ActivityKernel10&>(record);
    kernel.reserved0 = nullptr;
    kernel.pAccessPolicyWindow = nullptr;
  } else if (record.kind == CUPTI_ACTIVITY_KIND_OVERHEAD) {
    reinterpret_cast<CUpti_ActivityOverhead3&>(record).overheadData = nullptr;
  }
}

absl::Status Invalid(const std::filesystem::path& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      path.native(), " is no dump of CUPTI's records: ", why, "."));
}

}  // namespace

void RecordDump::Add(const uint8_t* data, size_t bytes) {
  std::string buffer(reinterpret_cast<const char*>(data), bytes);
  ForEachRecord(&buffer, [this](CUpti_Activity& record) {
    ClearPointers(record);
    if (!IsKernel(record)) return;
    auto& kernel = reinterpret_cast<CUpti_ActivityKernel10&>(record);
    const char* const name = kernel.name;
    if (name == nullptr) return;
    const auto [found, added] = name_ids_.try_emplace(name, names_.size());
    if (added) names_.emplace_back(name);
    kernel.name = reinterpret_cast<const char*>(found->second + 1);
  });
  buffers_.push_back(std::move(buffer));
}

void RecordDump::SetWindow(int64_t opened_ns, int64_t closed_ns,
                           const RawRecords& calls) {
  opened_ns_ = opened_ns;
  closed_ns_ = closed_ns;
  for (const RawHostEvent& call : calls.host) {
    calls_.push_back({.name = calls.names.at(call.name),
                      .sync = call.kind == EventKind::kSync,
                      .failed = call.failed,
                      .start_ns = call.start_ns,
                      .end_ns = call.end_ns,
                      .correlation = call.correlation});
  }
}

absl::Status RecordDump::Write(const std::filesystem::path& path) const {
  nlohmann::json json = {{"cupti", CUPTI_API_VERSION},
                         {"opened_ns", opened_ns_},
                         {"closed_ns", closed_ns_},
                         {"names", names_},
                         {"buffers", nlohmann::json::array()},
                         {"calls", nlohmann::json::array()}};
  for (const std::string& buffer : buffers_) {
    json["buffers"].push_back(nlohmann::json::binary(
        std::vector<uint8_t>(buffer.begin(), buffer.end())));
  }
  for (const Call& call : calls_) {
    json["calls"].push_back({call.name, call.sync, call.failed, call.start_ns,
                             call.end_ns, call.correlation});
  }
  const std::vector<uint8_t> bytes = nlohmann::json::to_cbor(json);
  return WriteFileAtomically(
      path, absl::string_view(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size()));
}

absl::StatusOr<RecordDump> RecordDump::Read(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  const nlohmann::json json = nlohmann::json::from_cbor(
      bytes, /*strict=*/true, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Invalid(path, "it is no CBOR");
  RecordDump dump;
  try {
    if (json.at("cupti") != CUPTI_API_VERSION) {
      return Invalid(path, "it is of another version of CUPTI");
    }
    json.at("opened_ns").get_to(dump.opened_ns_);
    json.at("closed_ns").get_to(dump.closed_ns_);
    json.at("names").get_to(dump.names_);
    for (const nlohmann::json& buffer : json.at("buffers")) {
      const nlohmann::json::binary_t& binary = buffer.get_binary();
      dump.buffers_.emplace_back(binary.begin(), binary.end());
    }
    for (const nlohmann::json& call : json.at("calls")) {
      dump.calls_.push_back({.name = call.at(0),
                             .sync = call.at(1),
                             .failed = call.at(2),
                             .start_ns = call.at(3),
                             .end_ns = call.at(4),
                             .correlation = call.at(5)});
    }
  } catch (const nlohmann::json::exception& error) {
    return Invalid(path, error.what());
  }
  return dump;
}

RawRecords RecordDump::Decode() const {
  RecordDecoder decoder(std::nullopt);
  for (std::string buffer : buffers_) {
    ForEachRecord(&buffer, [this](CUpti_Activity& record) {
      ClearPointers(record);
      if (!IsKernel(record)) return;
      auto& kernel = reinterpret_cast<CUpti_ActivityKernel10&>(record);
      const auto id = reinterpret_cast<uintptr_t>(kernel.name);
      kernel.name =
          id == 0 || id > names_.size() ? nullptr : names_[id - 1].c_str();
    });
    decoder.Decode(reinterpret_cast<uint8_t*>(buffer.data()), buffer.size());
  }
  RawRecords records = std::move(decoder.records());
  const auto before = [this](const auto& event) {
    return event.end_ns < opened_ns_;
  };
  std::erase_if(records.device, before);
  std::erase_if(records.host, before);
  for (RawDeviceEvent& event : records.device) {
    event.start_ns -= opened_ns_;
    event.end_ns -= opened_ns_;
  }
  for (RawHostEvent& event : records.host) {
    event.start_ns -= opened_ns_;
    event.end_ns -= opened_ns_;
  }
  for (const Call& call : calls_) {
    records.host.push_back(
        {.kind = call.sync ? EventKind::kSync : EventKind::kCall,
         .name = records.names.Intern(call.name),
         .start_ns = call.start_ns - opened_ns_,
         .end_ns = call.end_ns - opened_ns_,
         .correlation = call.correlation,
         .failed = call.failed});
  }
  return records;
}

}  // namespace traza
