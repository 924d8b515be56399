// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_FILE_FORMAT_H_
#define TRACE_FILE_FILE_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace traza {

// What writer and reader agree on beside the list of columns.

// The file metadata that holds the header as JSON.
inline constexpr char kHeaderKey[] = "traza.header";

inline constexpr int64_t kMaxRowGroupRows = 1'048'576;

// Whether the cells of that Column<int32_t> are texts: ids of the name table
// in memory, strings in the file. The others are numbers in both.
inline bool HoldsText(absl::string_view column) {
  return column == "copy_kind" || column == "shapes" || column == "dtypes";
}

}  // namespace traza

#endif  // TRACE_FILE_FILE_FORMAT_H_
