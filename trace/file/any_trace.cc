// SPDX-License-Identifier: Apache-2.0
#include "trace/file/any_trace.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "trace/file/file_errors.h"
#include "trace/file/kineto_file.h"
#include "trace/file/kineto_source.h"
#include "trace/file/open_file.h"
#include "trace/file/parquet_file.h"

namespace traza {
namespace {

constexpr int64_t kHeadBytes = 4096;
constexpr absl::string_view kParquetMagic = "PAR1";

// Whether text that begins so may be JSON of an object or an array. A document
// that has not begun after that many blanks is taken for JSON as well: its
// reader says what it is.
bool LooksLikeJson(absl::string_view head) {
  absl::ConsumePrefix(&head, "\xef\xbb\xbf");
  head = absl::StripLeadingAsciiWhitespace(head);
  return head.empty() || head[0] == '{' || head[0] == '[';
}

absl::StatusOr<std::string> HeadOf(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenTraceFile(path));
  return ReadFileAt(fd.get(), 0, kHeadBytes);
}

}  // namespace

absl::StatusOr<TraceFormat> TraceFormatOf(const std::filesystem::path& path) {
  const absl::StatusOr<std::string> head = HeadOf(path);
  if (!head.ok()) return Annotate(head.status(), path.native());
  if (head->starts_with(kParquetMagic.data())) return TraceFormat::kParquet;
  if (IsGzip(*head) || LooksLikeJson(*head)) return TraceFormat::kKineto;
  return Annotate(
      UnreadableFile("This is neither a trace of traza (Parquet) nor one of "
                     "torch.profiler (JSON, also packed by gzip)."),
      path.native());
}

absl::StatusOr<Trace> ReadAnyTrace(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const TraceFormat format, TraceFormatOf(path));
  return format == TraceFormat::kParquet ? ReadParquet(path)
                                         : ReadKinetoFile(path);
}

}  // namespace traza
