// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_HEADER_H_
#define TRACE_FILE_KINETO_HEADER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/worker_description.h"
#include "trace/file/kineto_cutter.h"

namespace traza {

// What the document of a Chrome trace says beside its events. What it does not
// say, or says in a way that cannot be read, is absent.
struct KinetoHeader {
  // Of CLOCK_REALTIME; times of events count from it. 0 in older files, whose
  // times count from 1970.
  int64_t base_ns = 0;
  std::map<std::string, std::string> versions;  // as Header::versions
  // The GPUs of the host, by number.
  std::map<int32_t, DeviceDescription> devices;
  std::optional<std::string> distributed;  // "rank 0 of 8, nccl"
  std::optional<std::string> trace_name;
  std::optional<std::string> host;

  friend bool operator==(const KinetoHeader&, const KinetoHeader&) = default;
};

KinetoHeader ReadKinetoHeader(const std::vector<KinetoMember>& members);

}  // namespace traza

#endif  // TRACE_FILE_KINETO_HEADER_H_
