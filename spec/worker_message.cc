// SPDX-License-Identifier: Apache-2.0
#include "spec/worker_message.h"

#include <limits>

#include "base/status_macros.h"
#include "base/utf8.h"
#include "spec/json_fields.h"

namespace traza {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxVersionBytes = 64;
constexpr size_t kMaxTypeBytes = 32;
// Escaped as JSON it may grow sixfold and must still fit into one message.
constexpr size_t kMaxErrorBytes = 4096;
constexpr size_t kMaxJobIdBytes = 63;
constexpr size_t kMaxPathBytes = 4096;

struct ToJsonVisitor {
  Json operator()(const Hello& m) const {
    return {
        {"type", "hello"}, {"protocol", m.protocol}, {"version", m.version}};
  }
  Json operator()(const Ready&) const { return {{"type", "ready"}}; }
  Json operator()(const PhaseStarted& m) const {
    return {{"type", "phase"}, {"phase", std::string(PhaseName(m.phase))}};
  }
  Json operator()(const StepsDone& m) const {
    Json json = {{"type", "steps"},
                 {"phase", std::string(PhaseName(m.phase))},
                 {"done", m.done}};
    if (m.total.has_value()) json["total"] = *m.total;
    return json;
  }
  Json operator()(const Heartbeat&) const { return {{"type", "heartbeat"}}; }
  Json operator()(const WorkerError& m) const {
    Json json = {{"type", "error"},
                 {"reason", std::string(TextOf(m.reason).name)},
                 {"message", std::string(CutUtf8(m.message, kMaxErrorBytes))}};
    if (m.phase.has_value()) json["phase"] = std::string(PhaseName(*m.phase));
    return json;
  }
  Json operator()(const WorkerResult& m) const {
    return {{"type", "result"},
            {"rows", m.rows},
            {"file_bytes", m.file_bytes},
            {"partial", m.partial}};
  }
};

absl::StatusOr<WorkerMessage> ReadHello(const JsonFields& fields) {
  Hello m;
  ASSIGN_OR_RETURN(const int64_t protocol,
                   fields.Int("protocol", 0, std::numeric_limits<int>::max()));
  m.protocol = static_cast<int>(protocol);
  ASSIGN_OR_RETURN(m.version, fields.CutString("version", kMaxVersionBytes));
  return m;
}

absl::StatusOr<WorkerMessage> ReadPhaseStarted(const JsonFields& fields) {
  PhaseStarted m;
  ASSIGN_OR_RETURN(m.phase, fields.Enum("phase", PhaseFromName));
  return m;
}

absl::StatusOr<WorkerMessage> ReadStepsDone(const JsonFields& fields) {
  StepsDone m;
  ASSIGN_OR_RETURN(m.phase, fields.Enum("phase", PhaseFromName));
  ASSIGN_OR_RETURN(m.done, fields.Int("done", 0));
  ASSIGN_OR_RETURN(m.total, fields.OptionalInt("total", m.done));
  return m;
}

absl::StatusOr<WorkerMessage> ReadError(const JsonFields& fields) {
  WorkerError m;
  ASSIGN_OR_RETURN(m.reason, fields.Enum("reason", ReasonFromName));
  ASSIGN_OR_RETURN(m.message, fields.CutString("message", kMaxErrorBytes));
  ASSIGN_OR_RETURN(m.phase, fields.OptionalEnum("phase", PhaseFromName));
  return m;
}

absl::StatusOr<WorkerMessage> ReadResult(const JsonFields& fields) {
  WorkerResult m;
  ASSIGN_OR_RETURN(m.rows, fields.Int("rows", 0));
  ASSIGN_OR_RETURN(m.file_bytes, fields.Int("file_bytes", 0));
  ASSIGN_OR_RETURN(m.partial, fields.Bool("partial"));
  return m;
}

std::string Line(const Json& json) { return DumpJson(json) + "\n"; }

}  // namespace

std::string Encode(const WorkerMessage& message) {
  return Line(std::visit(ToJsonVisitor(), message));
}

std::string Encode(const StartJob& message) {
  return Line(Json{{"type", "start"},
                   {"spec", ToJson(message.spec)},
                   {"out", message.out},
                   {"job_id", message.job_id},
                   {"roofs", ToJson(message.roofs)}});
}

absl::StatusOr<WorkerMessage> DecodeWorkerMessage(absl::string_view line) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(line, kMaxMessageBytes));
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  ASSIGN_OR_RETURN(const std::string type,
                   fields.String("type", kMaxTypeBytes));
  if (type == "hello") return ReadHello(fields);
  if (type == "ready") return Ready{};
  if (type == "phase") return ReadPhaseStarted(fields);
  if (type == "steps") return ReadStepsDone(fields);
  if (type == "heartbeat") return Heartbeat{};
  if (type == "error") return ReadError(fields);
  if (type == "result") return ReadResult(fields);
  return FieldError("type", absl::StrCat("does not know ", Quoted(type)));
}

absl::StatusOr<StartJob> DecodeStartJob(absl::string_view line) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(line, kMaxMessageBytes));
  ASSIGN_OR_RETURN(const JsonFields fields, JsonFields::Of(json));
  ASSIGN_OR_RETURN(const std::string type,
                   fields.String("type", kMaxTypeBytes));
  if (type != "start") {
    return FieldError("type",
                      absl::StrCat("is ", Quoted(type), ", not \"start\""));
  }
  StartJob message;
  ASSIGN_OR_RETURN(message.spec, fields.Value("spec", JobSpecFromJson));
  ASSIGN_OR_RETURN(message.out, fields.String("out", kMaxPathBytes));
  ASSIGN_OR_RETURN(message.job_id, fields.String("job_id", kMaxJobIdBytes));
  ASSIGN_OR_RETURN(message.roofs, fields.Value("roofs", DeviceRoofsFromJson));
  return message;
}

absl::Status LineSplitter::Add(absl::string_view bytes) {
  buffer_.erase(0, read_);
  unfinished_ -= read_;
  read_ = 0;
  while (!bytes.empty() && !too_long_) {
    const size_t newline = bytes.find('\n');
    const bool whole = newline != absl::string_view::npos;
    const absl::string_view part = bytes.substr(0, newline);
    const size_t line_bytes = buffer_.size() - unfinished_ + part.size();
    too_long_ = line_bytes > kMaxMessageBytes;
    if (too_long_) break;
    buffer_.append(part.data(), part.size());
    bytes.remove_prefix(part.size());
    if (whole) {
      buffer_ += '\n';
      bytes.remove_prefix(1);
      unfinished_ = buffer_.size();
    }
  }
  if (!too_long_) return absl::OkStatus();
  buffer_.resize(unfinished_);
  return absl::ResourceExhaustedError(absl::StrCat(
      "A message of the worker is longer than ", kMaxMessageBytes, " bytes"));
}

std::optional<std::string> LineSplitter::Next() {
  if (read_ >= unfinished_) return std::nullopt;
  const size_t newline = buffer_.find('\n', read_);
  std::string line = buffer_.substr(read_, newline - read_);
  read_ = newline + 1;
  return line;
}

}  // namespace traza
