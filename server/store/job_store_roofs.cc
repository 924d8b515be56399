// SPDX-License-Identifier: Apache-2.0
// The part of JobStore that is about what devices can do.
#include <optional>

#include "base/status_macros.h"
#include "server/store/job_store.h"

namespace traza {

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
  ASSIGN_OR_RETURN(DeviceRoofs roofs, DeviceRoofsFromText(*text));
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
            {device, ToText(roofs), absl::ToUnixNanos(now)})
        .status();
  });
}

}  // namespace traza
