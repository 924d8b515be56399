// SPDX-License-Identifier: Apache-2.0
// Copies between host and device that the CPU waits for.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/finding_parts.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/statistics.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
void AddCopyFindings(const FindingInput& in, std::vector<Finding>* findings) {
  const Trace& trace = in.trace;
  Finding finding;
  WeightedNames ops;
  int64_t count = 0;
  int64_t back = 0;  // to the host
  int64_t ns = 0;
  int64_t call_ns = 0;
  int64_t bytes = 0;
  for (const DeviceLane& lane : in.lanes) {
    for (const size_t row : lane.rows) {
      if (trace.kind[row] != EventKind::kCopy ||
          !absl::StrContains(trace.name_of(row), "Pageable")) {
        continue;
      }
      ++count;
      back += GoesToHost(trace, row);
      ns = AddSaturating(ns, trace.duration_ns[row]);
      bytes = AddSaturating(bytes, std::max<int64_t>(0, trace.bytes.at(row)));
      if (const int64_t call = trace.call.at(row); call >= 0) {
        call_ns = AddSaturating(call_ns,
                                trace.duration_ns[static_cast<size_t>(call)]);
      }
      if (const std::string path = OpPath(trace, row); !path.empty()) {
        ops.Add(path, trace.duration_ns[row]);
      }
      AddEventId(row, &finding);
    }
  }
  if (count == 0) return;
  finding.id = "pageable-copy";
  finding.severity = "warning";
  const char* where = back == 0       ? " from memory of the host"
                      : back == count ? " back to memory of the host"
                                      : " from or to memory of the host";
  finding.title = absl::StrCat(
      count == 1 ? "1 copy goes" : absl::StrCat(CountText(count), " copies go"),
      where, " that is not pinned: ", BytesText(static_cast<double>(bytes)),
      " in ", NsText(static_cast<double>(ns)),
      ops.empty() ? "" : absl::StrCat(", in ", ops.Text()), ".",
      call_ns > 0 ? absl::StrCat(" The CPU is in these calls for ",
                                 NsText(static_cast<double>(call_ns)), ".")
                  : "");
  finding.numbers["copies"] = CountNumber(count);
  finding.numbers["copies_to_host"] = CountNumber(back);
  finding.numbers["copy_time"] = NsNumber(ns);
  finding.numbers["copy_bytes"] = BytesNumber(static_cast<double>(bytes));
  if (call_ns > 0) finding.numbers["call_time"] = NsNumber(call_ns);
  if (ns > 0 && bytes > 0) {
    finding.numbers["bandwidth"] = {
        static_cast<double>(bytes) * 1e9 / static_cast<double>(ns), "bytes/s",
        "", ""};
  }
  finding.suggestion =
      "Pin the memory of the host (pin_memory=True, Tensor.pin_memory()) and "
      "copy with non_blocking=True: the driver copies pageable memory twice, "
      "and the CPU waits for it.";
  findings->push_back(std::move(finding));
}

}  // namespace traza
