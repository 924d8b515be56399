// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "spec/phase.h"
#include "trace/columns.h"

namespace traza {
namespace {

absl::Status Fault(size_t row, absl::string_view what) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceUnreadable)
      .With("row", static_cast<int64_t>(row))
      .Build(
          absl::StrCat("The trace is damaged: in row ", row, " ", what, "."));
}

absl::Status WrongLength(absl::string_view column, size_t cells, size_t rows) {
  return ErrorBuilder(absl::StatusCode::kDataLoss, Reason::kTraceUnreadable)
      .Build(absl::StrCat("The trace is damaged: the column ", column, " has ",
                          cells, " cells in a table of ", rows, " rows."));
}

absl::Status CheckLengths(const Trace& trace) {
  const size_t rows = trace.rows();
  const std::pair<absl::string_view, size_t> present[] = {
      {"name", trace.name.size()},
      {"start_ns", trace.start_ns.size()},
      {"duration_ns", trace.duration_ns.size()}};
  for (const auto& [name, cells] : present) {
    if (cells != rows) {
      return WrongLength(name, cells, rows);
    }
  }
  absl::Status status;
  ForEachColumn(trace, [&](absl::string_view name, const auto& column) {
    const size_t cells = column.cells().size();
    if (status.ok() && cells != 0 && cells != rows) {
      status = WrongLength(name, cells, rows);
    }
  });
  return status;
}

absl::Status CheckTimes(const Trace& trace) {
  int64_t last = 0;
  for (size_t row = 0; row < trace.rows(); ++row) {
    const int64_t start = trace.start_ns[row];
    const int64_t duration = trace.duration_ns[row];
    if (start < 0 || start > kMaxTimeNs) {
      return Fault(row, absl::StrCat("start_ns is ", start));
    }
    if (start < last) {
      return Fault(row, "start_ns is less than in the row before");
    }
    if (duration < 0 || duration > kMaxDurationNs) {
      return Fault(row, absl::StrCat("duration_ns is ", duration));
    }
    last = start;
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const Trace& trace) {
  const int32_t names = trace.names.size();
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (trace.name[row] < 0 || trace.name[row] >= names) {
      return Fault(row, "name is not in the table of names");
    }
  }
  for (const auto* column : {&trace.copy_kind, &trace.shapes, &trace.dtypes}) {
    for (size_t row = 0; row < column->cells().size(); ++row) {
      if (!column->is_null(row) &&
          (column->at(row) < 0 || column->at(row) >= names)) {
        return Fault(row, "a text is not in the table of names");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckEnums(const Trace& trace) {
  for (size_t row = 0; row < trace.rows(); ++row) {
    if (static_cast<size_t>(trace.kind[row]) >= kAllEventKinds.size()) {
      return Fault(row, "kind is unknown");
    }
    if (!trace.phase.is_null(row) &&
        (trace.phase.at(row) < 0 ||
         static_cast<size_t>(trace.phase.at(row)) >= kAllPhases.size())) {
      return Fault(row, "phase is unknown");
    }
    if (!trace.step.is_null(row) && trace.step.at(row) < 0) {
      return Fault(row, "step is negative");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReferences(const Trace& trace) {
  const auto rows = static_cast<int64_t>(trace.rows());
  for (size_t row = 0; row < trace.parent.cells().size(); ++row) {
    const int64_t parent = trace.parent.cells()[row];
    if (parent != kNull<int64_t> &&
        (parent < 0 || parent >= static_cast<int64_t>(row))) {
      return Fault(row, absl::StrCat("parent is ", parent,
                                     ", which is no row before it"));
    }
  }
  const auto refers = [&](const Column<int64_t>& column, size_t row,
                          EventKind kind) {
    const int64_t target = column.cells()[row];
    return target == kNull<int64_t> ||
           (target >= 0 && target < rows && trace.kind[target] == kind);
  };
  for (size_t row = 0; row < trace.op.cells().size(); ++row) {
    if (!refers(trace.op, row, EventKind::kOp)) {
      return Fault(row, "op does not refer to an op");
    }
  }
  for (size_t row = 0; row < trace.call.cells().size(); ++row) {
    if (!refers(trace.call, row, EventKind::kCall)) {
      return Fault(row, "call does not refer to a call");
    }
  }
  return absl::OkStatus();
}

}  // namespace

NameTable::NameTable(const NameTable& other) { *this = other; }

NameTable& NameTable::operator=(const NameTable& other) {
  if (this != &other) {
    names_ = other.names_;
    ids_.clear();
    ids_.reserve(names_.size());
    for (size_t id = 0; id < names_.size(); ++id) {
      ids_.emplace(names_[id], static_cast<int32_t>(id));
    }
  }
  return *this;
}

int32_t NameTable::Intern(absl::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) {
    return found->second;
  }
  const int32_t id = size();
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

absl::Status Validate(const Trace& trace) {
  RETURN_IF_ERROR(CheckLengths(trace));
  RETURN_IF_ERROR(CheckTimes(trace));
  RETURN_IF_ERROR(CheckNames(trace));
  RETURN_IF_ERROR(CheckEnums(trace));
  return CheckReferences(trace);
}

}  // namespace traza
