// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_FILE_KINETO_EVENT_H_
#define TRACE_FILE_KINETO_EVENT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "trace/file/json_cursor.h"
#include "trace/record.h"

namespace traza {

// What an event of a Chrome trace is to us, by its category and phase. The
// spelling of categories changed over the years: "Kernel" became "kernel".
enum class KinetoKind : uint8_t {
  kOp,             // cpu_op
  kAnnotation,     // user_annotation: a range, or a step by its name
  kGpuAnnotation,  // gpu_user_annotation: its shadow on the device
  kCall,           // of a runtime or a driver: CUDA, HIP, XPU, MTIA, ...
  kKernel,
  kCopy,
  kFill,
  kSync,      // cuda_sync: a wait, as the device saw it
  kOverhead,  // of the profiler or the driver
  kAlloc,     // [memory] instants
  kMetadata,  // names of processes and threads
  kOther,     // no work: flows, counters, python functions, what is not known
};
KinetoKind KindOfCategory(absl::string_view category, char phase);

// One event. Texts are valid while it is handled. kNull is absent.
struct KinetoEvent {
  char phase = 0;
  KinetoKind kind = KinetoKind::kOther;
  absl::string_view category;
  absl::string_view name;
  // As written: numbers or texts ("stream 7"), in ns from microseconds.
  int64_t pid = kNull<int64_t>;
  int64_t tid = kNull<int64_t>;
  std::optional<int64_t> start_ns, duration_ns;

  // Of args.
  int64_t external_id = kNull<int64_t>;
  int64_t correlation = kNull<int64_t>;
  int64_t device = kNull<int64_t>;
  int64_t context = kNull<int64_t>;
  int64_t stream = kNull<int64_t>;
  int64_t graph = kNull<int64_t>;
  int64_t graph_node = kNull<int64_t>;
  int64_t bytes = kNull<int64_t>;
  int64_t registers = kNull<int64_t>;
  int64_t shared_memory = kNull<int64_t>;  // static and dynamic, bytes a block
  std::array<int64_t, 3> grid = {kNull<int64_t>, kNull<int64_t>,
                                 kNull<int64_t>};
  std::array<int64_t, 3> block = grid;
  int64_t device_type = kNull<int64_t>;  // of memory: 0 is the CPU
  int64_t device_id = kNull<int64_t>;
  absl::string_view input_dims;   // JSON
  absl::string_view input_types;  // JSON
};

// Reads events from windows of text. Thread-compatible.
class KinetoEventReader {
 public:
  // Calls `add` with each event of `window`, the text of a JSON array. Fails as
  // `add` does, and with TRACE_UNREADABLE where the text is no JSON.
  absl::Status Read(absl::string_view window,
                    absl::FunctionRef<absl::Status(const KinetoEvent&)> add);

 private:
  void ReadMember(absl::string_view key, JsonCursor* cursor,
                  KinetoEvent* event);
  // The text of a value, in `memory` where it has escapes.
  static absl::string_view TextOf(absl::string_view value, std::string* memory);

  std::string category_, name_;  // of the event that is read
};

}  // namespace traza

#endif  // TRACE_FILE_KINETO_EVENT_H_
