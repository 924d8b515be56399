// SPDX-License-Identifier: Apache-2.0
// The part of JobStore that is about what devices can do.
#include <optional>

#include "nlohmann/json.hpp"

#include "base/error.h"
#include "base/status_macros.h"
#include "server/store/job_store.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

constexpr size_t kMaxRoofsBytes = 64 << 10;

absl::StatusOr<DeviceRoofs> RoofsFromText(const std::string& text) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, kMaxRoofsBytes));
  return DeviceRoofsFromJson(json);
}

}  // namespace

absl::StatusOr<std::optional<DeviceRoofs>> JobStore::FindRoofs(
    const std::string& device) {
  std::optional<std::string> text;
  const auto body = [&](SqlTransaction& sql) {
    return sql.Query("SELECT roofs FROM roofs WHERE device=?", {device},
                     [&](const SqlRow& row) {
                       text = row.Text(0);
                       return true;
                     });
  };
  RETURN_IF_ERROR(reader_->Read(body));
  if (!text.has_value()) return std::optional<DeviceRoofs>();
  ASSIGN_OR_RETURN(DeviceRoofs roofs, RoofsFromText(*text));
  return std::optional<DeviceRoofs>(std::move(roofs));
}

absl::Status JobStore::PutRoofs(const std::string& device,
                                const DeviceRoofs& roofs, absl::Time now) {
  return writer_->Write([&](SqlTransaction& sql) {
    return sql
        .Run(
            "INSERT INTO roofs (device, roofs, time_ns) VALUES (?,?,?)"
            " ON CONFLICT (device) DO UPDATE SET roofs=excluded.roofs,"
            " time_ns=excluded.time_ns",
            {device, DumpJson(ToJson(roofs)), absl::ToUnixNanos(now)})
        .status();
  });
}

}  // namespace traza
