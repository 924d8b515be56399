// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "client/cli/commands.h"
#include "client/cli/options.h"

namespace traza {
namespace {

constexpr int64_t kReadBytes = 1024 * 1024;

struct ImportOptions {
  std::vector<std::string> files;
  std::map<std::string, std::string> labels;
  std::optional<std::string> request_id;
};

// A file that cannot be read makes the request wrong.
absl::StatusOr<UniqueFd> OpenForImport(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(path.native()), " is a folder; name its files."));
  }
  absl::StatusOr<UniqueFd> fd = OpenFile(path, O_RDONLY);
  if (fd.ok() || absl::IsNotFound(fd.status())) return fd;
  return absl::InvalidArgumentError(fd.status().message());
}

absl::StatusOr<v1::Trace> ImportFile(const std::filesystem::path& path,
                                     const ImportOptions& options,
                                     Client& client) {
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenForImport(path));
  v1::ImportTraceHeader header;
  header.mutable_labels()->insert(options.labels.begin(), options.labels.end());
  ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
  header.set_size_bytes(size);
  ASSIGN_OR_RETURN(*header.mutable_sha256(), FileSha256(path));
  header.set_request_id(options.request_id.value_or(""));
  int64_t offset = 0;
  return client.ImportTrace(header, [&]() -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(std::string block,
                     ReadFileAt(fd.get(), offset, kReadBytes));
    offset += static_cast<int64_t>(block.size());
    return block;
  });
}

absl::StatusOr<ExitCode> ImportFiles(const ImportOptions& options,
                                     CommandContext& context) {
  if (options.request_id.has_value() && options.files.size() > 1) {
    return absl::InvalidArgumentError(
        "--request-id is of one import; name one FILE.");
  }
  // Before the first is sent: a slip in the last name imports nothing.
  for (const std::string& file : options.files) {
    RETURN_IF_ERROR(OpenForImport(file).status());
  }
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  const Console& console = context.console();
  v1::ListTracesResponse imported;
  for (const std::string& file : options.files) {
    absl::StatusOr<v1::Trace> trace = ImportFile(file, options, *client);
    if (!trace.ok()) {
      // What was imported before it is told in any case.
      if (context.json()) context.PrintJson(imported);
      return Annotate(trace.status(), file);
    }
    if (!context.json()) {
      console.out << trace->name() << "  " << EscapeControlCharacters(file)
                  << '\n'
                  << std::flush;
    }
    *imported.add_traces() = *std::move(trace);
  }
  if (context.json()) context.PrintJson(imported);
  return ExitCode::kOk;
}

}  // namespace

void AddImportCommand(CommandTree& tree) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App& app = tree.Add("import", "Store traces that were made elsewhere",
                           [options](CommandContext& context) {
                             return ImportFiles(*options, context);
                           });
  AddPositionals(app, "FILE", &options->files,
                 "Files of traza (.parquet) or torch.profiler (.json, .gz)");
  AddPairs(app, "--label", &options->labels,
           "A word of yours to find the trace again; may be repeated");
  AddText(app, "--request-id", &options->request_id,
          "The same id again is the same trace, not a second one", "ID");
}

}  // namespace traza
