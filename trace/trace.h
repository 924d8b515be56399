// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_TRACE_H_
#define TRACE_TRACE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "trace/header.h"
#include "trace/record.h"

namespace traza {

// Strings by number, each stored once. Ids are dense and start at 0.
class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable& other);
  NameTable& operator=(const NameTable& other);
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;

  int32_t Intern(absl::string_view name);
  const std::string& at(int32_t id) const { return names_[id]; }
  int32_t size() const { return static_cast<int32_t>(names_.size()); }

 private:
  std::deque<std::string> names_;  // a deque never moves a string
  absl::flat_hash_map<absl::string_view, int32_t> ids_;  // keys in names_
};

// One column. Empty means that the cell is null in every row, so a column that
// does not apply to a trace costs nothing.
template <typename T>
class Column {
 public:
  // The cell, kNull<T> (NaN for doubles) where it is null.
  T at(size_t row) const { return cells_.empty() ? Null() : cells_[row]; }
  bool is_null(size_t row) const { return IsNull(at(row)); }
  bool all_null() const { return cells_.empty(); }

  // Sets the cell of a trace with `rows` rows; the first value that is not
  // null makes the column.
  void Set(size_t row, T value, size_t rows) {
    if (cells_.empty()) {
      if (IsNull(value)) {
        return;
      }
      cells_.assign(rows, Null());
    }
    cells_[row] = value;
  }

  std::vector<T>& cells() { return cells_; }
  const std::vector<T>& cells() const { return cells_; }

  static constexpr T Null() {
    if constexpr (std::numeric_limits<T>::is_integer) {
      return kNull<T>;
    } else {
      return std::numeric_limits<T>::quiet_NaN();
    }
  }
  static bool IsNull(T value) {
    if constexpr (std::numeric_limits<T>::is_integer) {
      return value == Null();
    } else {
      return std::isnan(value);
    }
  }

 private:
  std::vector<T> cells_;
};

// A trace in memory: one row an event, sorted by start_ns, as columns; the
// table of docs/trace-format.md. The column `id` is the row number.
//
// Strings are ids of `names`. A plain value: thread-compatible.
struct Trace {
  Header header;
  NameTable names;

  // Present in every row.
  std::vector<EventKind> kind;
  std::vector<int32_t> name;
  std::vector<int64_t> start_ns;     // CLOCK_REALTIME
  std::vector<int64_t> duration_ns;  // >= 0; 0 is legal

  // Null where they do not apply.
  Column<int8_t> phase;  // of enum Phase
  Column<int32_t> step;  // number within its phase, from 0
  Column<int32_t> process;
  Column<int64_t> thread;  // kernel thread id
  Column<int32_t> device;
  Column<int32_t> context;
  Column<int32_t> stream;
  Column<int64_t> parent;  // row of the event that encloses it on its lane
  Column<int64_t>
      op;  // for calls, device work: row of the innermost op that caused it
  Column<int64_t> call;  // for device work: row of the call that launched it
  Column<int64_t> correlation;
  Column<int64_t> graph;
  Column<int64_t> graph_node;
  Column<int32_t> grid_x, grid_y, grid_z;                      // blocks
  Column<int32_t> block_x, block_y, block_z;                   // threads
  Column<int32_t> registers;                                   // per thread
  Column<int32_t> shared_static, shared_dynamic, local_bytes;  // bytes
  Column<double> occupancy;  // theoretical, 0..1
  Column<int64_t> bytes;
  Column<int32_t> copy_kind;  // name id: "dtod", "htod", ...
  Column<int32_t> shapes;     // name id: "[[64,64],[64,64]]"
  Column<int32_t> dtypes;     // name id: "float,float"
  Column<int64_t> flops;
  Column<double> value;

  size_t rows() const { return kind.size(); }
  int64_t end_ns(size_t row) const { return start_ns[row] + duration_ns[row]; }
  const std::string& name_of(size_t row) const { return names.at(name[row]); }
};

// Times that make sense: up to the year 2116, spans up to 73 years. Within
// these no sum or difference of two of them overflows.
inline constexpr int64_t kMaxTimeNs = int64_t{1} << 62;
inline constexpr int64_t kMaxDurationNs = int64_t{1} << 61;

// OK when every column has one cell a row or none, every reference (parent,
// op, call, names) is within the table and of the right kind, a parent comes
// before its children (so that there is no cycle), times are within the bounds
// above and rows are sorted by start_ns; else DATA_LOSS / TRACE_UNREADABLE with
// the first fault. Files are checked with it after reading: they are hostile
// input.
absl::Status Validate(const Trace& trace);

}  // namespace traza

#endif  // TRACE_TRACE_H_
