// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_INPUTS_H_
#define TRACE_FILE_KINETO_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "trace/correlate/raw_records.h"
#include "trace/op_inputs.h"

namespace traza {

// Turns the args "Input Dims" and "Input type" of operators into the columns
// shapes, dtypes and flops, as our own traces have them. Equal inputs are read
// once. Thread-compatible.
class KinetoInputs {
 public:
  // Sets them in `event`, whose name is set; `dims` and `types` are JSON texts,
  // empty where the file has none. What cannot be read leaves them null.
  void Decode(absl::string_view dims, absl::string_view types,
              RawHostEvent* event, NameTable* names);

 private:
  struct Texts {
    int32_t shapes = kNull<int32_t>;
    int32_t dtypes = kNull<int32_t>;
    std::vector<OpInput> inputs;
    absl::flat_hash_map<int32_t, int64_t> flops;  // by name
  };

  Texts Read(absl::string_view dims, absl::string_view types, NameTable* names);
  // The number of an element type, for OpInput.
  int DtypeOf(absl::string_view type);

  absl::flat_hash_map<std::string, Texts> seen_;  // by dims and types
  std::vector<std::string> dtypes_;               // by number
};

}  // namespace traza

#endif  // TRACE_FILE_KINETO_INPUTS_H_
