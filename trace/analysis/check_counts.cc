// SPDX-License-Identifier: Apache-2.0
// Quantities that each traced step has for itself: counts, bytes, device time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/check_observe.h"
#include "trace/analysis/row_names.h"
#include "trace/analysis/row_times.h"
#include "trace/analysis/stream_waits.h"
#include "trace/quantity.h"
#include "trace/record.h"

namespace traza {
namespace {

// Whether the name of a row is one that the expression is about.
class NameFilter {
 public:
  NameFilter(const Trace& trace, const CheckExpression& check) : trace_(trace) {
    if (check.names.has_value()) matches_ = check.names->MatchAll(trace.names);
  }
  bool operator()(size_t row) const {
    return matches_.empty() ||
           matches_[static_cast<size_t>(trace_.name[row])] != 0;
  }

 private:
  const Trace& trace_;
  std::vector<uint8_t> matches_;
};

// Whether a copy is of the kind that the expression is about.
bool IsOfKind(const Trace& trace, const CheckExpression& check, size_t row) {
  if (check.word.empty()) return true;
  const int32_t kind = trace.copy_kind.at(row);
  return kind >= 0 && trace.names.at(kind) == check.word;
}

// How many copies do not say what was copied where.
int64_t CountUnknownKinds(const Trace& trace) {
  int64_t count = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    count += trace.kind[row] == EventKind::kCopy && trace.copy_kind.at(row) < 0;
  }
  return count;
}

// Why the copies of one kind cannot be told from others; empty where they can.
std::string MissingKinds(const Trace& trace, const CheckExpression& check) {
  const int64_t unknown = check.word.empty() ? 0 : CountUnknownKinds(trace);
  if (unknown == 0) return "";
  return absl::StrCat(
      "The trace does not say of ",
      unknown == 1 ? "1 copy" : absl::StrCat(unknown, " copies"),
      " from where to where it went.");
}

// What an API call makes another layer of the API do counts once.
bool IsInside(const Trace& trace, size_t row) {
  const int64_t parent = trace.parent.at(row);
  return parent >= 0 &&
         trace.kind[static_cast<size_t>(parent)] == trace.kind[row];
}

Observation CountKind(const CheckSubject& subject, EventKind kind) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  return subject.CountPerStep(
      [&](size_t row) { return subject.trace().kind[row] == kind; });
}

}  // namespace

Observation ObserveKernels(const CheckSubject& subject,
                           const CheckExpression& check) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  const NameFilter names(trace, check);
  return subject.CountPerStep([&](size_t row) {
    return trace.kind[row] == EventKind::kKernel && names(row);
  });
}

Observation ObserveCopies(const CheckSubject& subject,
                          const CheckExpression& check) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  if (std::string why = MissingKinds(trace, check); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  return subject.CountPerStep([&](size_t row) {
    return trace.kind[row] == EventKind::kCopy && IsOfKind(trace, check, row);
  });
}

Observation ObserveFills(const CheckSubject& subject,
                         const CheckExpression& /*check*/) {
  return CountKind(subject, EventKind::kFill);
}

Observation ObserveLaunches(const CheckSubject& subject,
                            const CheckExpression& /*check*/) {
  if (std::string why = subject.MissingCalls(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  // A graph is one launch of many records.
  const Trace& trace = subject.trace();
  std::vector<uint8_t> launches(trace.rows(), 0);
  int64_t launchless = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (!IsDeviceWork(trace.kind[row])) continue;
    const int64_t call = trace.call.at(row);
    if (call >= 0) {
      launches[static_cast<size_t>(call)] = 1;
    } else {
      ++launchless;
    }
  }
  Observation observation =
      subject.CountPerStep([&](size_t row) { return launches[row] != 0; });
  if (launchless > 0) {
    observation.notes.push_back(
        absl::StrCat("The calls of ", CountText(launchless, "piece"),
                     " of device work are not in the trace."));
  }
  return observation;
}

Observation ObserveOps(const CheckSubject& subject,
                       const CheckExpression& check) {
  if (std::string why = subject.MissingOps(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  const RowTimes times(trace);
  const NameFilter names(trace, check);
  return subject.CountPerStep([&](size_t row) {
    return trace.kind[row] == EventKind::kOp && times.merged[row] == 0 &&
           names(row);
  });
}

Observation ObserveSyncs(const CheckSubject& subject,
                         const CheckExpression& /*check*/) {
  if (std::string why = subject.MissingCalls(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  return subject.CountPerStep([&](size_t row) {
    return IsHostWait(trace, row) && !IsInside(trace, row);
  });
}

Observation ObserveAllocs(const CheckSubject& subject,
                          const CheckExpression& /*check*/) {
  if (std::string why = subject.MissingCalls(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  return subject.CountPerStep([&](size_t row) {
    return trace.kind[row] == EventKind::kCall &&
           IsAllocation(trace.name_of(row)) && !IsInside(trace, row);
  });
}

Observation ObserveBytes(const CheckSubject& subject,
                         const CheckExpression& check) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  if (std::string why = MissingKinds(trace, check); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const auto counts = [&](size_t row) {
    return (trace.kind[row] == EventKind::kCopy &&
            IsOfKind(trace, check, row)) ||
           (trace.kind[row] == EventKind::kFill && check.word.empty());
  };
  int64_t unknown = 0;
  Observation observation = subject.PerStep(counts, [&](size_t row) -> double {
    const int64_t bytes = trace.bytes.at(row);
    unknown += bytes < 0;
    return bytes < 0 ? 0 : static_cast<double>(bytes);
  });
  if (unknown == 0) return observation;
  return Observation::Missing(
      absl::StrCat("The trace does not say how many bytes ",
                   CountText(unknown, "record"), " moved."));
}

Observation ObserveDeviceTime(const CheckSubject& subject,
                              const CheckExpression& check) {
  if (std::string why = subject.MissingDeviceWork(); !why.empty()) {
    return Observation::Missing(std::move(why));
  }
  const Trace& trace = subject.trace();
  const NameFilter names(trace, check);
  return subject.MedianPerStep(
      [&](size_t row) { return IsDeviceWork(trace.kind[row]) && names(row); },
      [&](size_t row) { return static_cast<double>(trace.duration_ns[row]); });
}

}  // namespace traza
