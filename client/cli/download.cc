// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "client/cli/commands.h"
#include "client/cli/options.h"
#include "client/cli/trace_download.h"
#include "client/cli/trace_source.h"
#include "client/term/progress_line.h"
#include "trace/quantity.h"

namespace traza {
namespace {

constexpr int64_t kCopyBytes = 1024 * 1024;

struct DownloadOptions {
  std::string trace;
  std::optional<std::string> output;
};

// Where the trace goes, by what -o says and what is there.
struct Destination {
  bool is_stdout = false;
  bool is_special = false;  // a pipe or a device: cannot be replaced
  std::filesystem::path path;
};

absl::StatusOr<Destination> FindDestination(
    const std::optional<std::string>& output, const v1::Trace& trace) {
  const std::string file_name =
      absl::StrCat(absl::StripPrefix(trace.name(), "traces/"), ".parquet");
  if (!output) return Destination{.path = file_name};
  if (*output == "-") return Destination{.is_stdout = true, .path = *output};
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(*output, error);
  if (std::filesystem::is_directory(status)) {
    return Destination{.path = std::filesystem::path(*output) / file_name};
  }
  return Destination{.is_special = std::filesystem::is_other(status),
                     .path = *output};
}

// A stream cannot be taken back, so it gets the bytes after they were checked.
absl::Status DownloadToStream(Client& client, const v1::Trace& trace,
                              const Destination& destination, std::ostream& out,
                              ProgressLine& progress) {
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenTemporary());
  RETURN_IF_ERROR(FillFromTrace(client, trace, fd.get(), progress));
  progress.Say("");
  UniqueFd special;
  if (destination.is_special) {
    ASSIGN_OR_RETURN(special, OpenFile(destination.path, O_WRONLY));
  }
  for (int64_t offset = 0; offset < trace.size_bytes(); offset += kCopyBytes) {
    ASSIGN_OR_RETURN(const std::string bytes,
                     ReadFileAt(fd.get(), offset, kCopyBytes));
    if (destination.is_special) {
      RETURN_IF_ERROR(WriteAll(special.get(), bytes));
    } else {
      out << bytes;
    }
  }
  return absl::OkStatus();
}

bool IsThere(const v1::Trace& trace, const std::filesystem::path& path) {
  const absl::StatusOr<int64_t> size = FileSize(path);
  if (!size.ok() || *size != trace.size_bytes()) return false;
  const absl::StatusOr<std::string> digest = FileSha256(path);
  return digest.ok() && *digest == trace.sha256();
}

void Report(const v1::Trace& trace, const Destination& destination,
            CommandContext& context) {
  const Console& console = context.console();
  if (destination.is_stdout) return;
  if (context.json()) {
    v1::FileDescription file;
    file.set_size_bytes(trace.size_bytes());
    file.set_sha256(trace.sha256());
    file.set_media_type("application/vnd.apache.parquet");
    file.set_file_name(ToValidUtf8(destination.path.native()));
    context.PrintJson(file);
    return;
  }
  console.out << destination.path.native() << '\n' << std::flush;
  console.Note(absl::StrCat(BytesText(static_cast<double>(trace.size_bytes())),
                            ", SHA-256 checked"));
}

absl::StatusOr<ExitCode> Download(const DownloadOptions& options,
                                  CommandContext& context) {
  const Console& console = context.console();
  if (options.output == "-" && (context.json() || console.out_is_terminal)) {
    return absl::InvalidArgumentError(
        context.json() ? "-o - and --json both want the standard output."
                       : "A trace is binary, and the standard output is a "
                         "terminal; name a file with -o FILE.");
  }
  v1::GetTraceRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(),
                   RemoteTrace(options.trace, context));
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Trace trace, client->GetTrace(request));
  ASSIGN_OR_RETURN(const Destination destination,
                   FindDestination(options.output, trace));
  ProgressLine progress(console, Clock::Real());
  if (destination.is_stdout || destination.is_special) {
    RETURN_IF_ERROR(
        DownloadToStream(*client, trace, destination, console.out, progress));
  } else if (!IsThere(trace, destination.path)) {
    RETURN_IF_ERROR(DownloadToFile(*client, trace, destination.path, progress));
  }
  progress.Say("");
  Report(trace, destination, context);
  return ExitCode::kOk;
}

}  // namespace

void AddDownloadCommand(CommandTree& tree) {
  const auto options = std::make_shared<DownloadOptions>();
  CLI::App& app = tree.Add("download", "Fetch the file of a trace",
                           [options](CommandContext& context) {
                             return Download(*options, context);
                           });
  AddPositional(app, "ID", &options->trace, "The id of the trace");
  AddText(app, "-o,--output", &options->output,
          "Where to; - is the standard output (default ID.parquet)", "FILE");
}

}  // namespace traza
