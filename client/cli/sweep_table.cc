// SPDX-License-Identifier: Apache-2.0
#include "client/cli/sweep_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "nlohmann/json.hpp"

#include "api/convert_enum.h"
#include "base/error.h"
#include "base/utf8.h"
#include "client/cli/job_text.h"
#include "client/cli/run_result.h"
#include "client/term/list_table.h"
#include "trace/analysis/answer.h"
#include "trace/quantity.h"

namespace traza {
namespace {

constexpr char kUnknown[] = "-";

std::string StepText(const v1::Steps& steps) {
  const v1::StepStats& stats =
      steps.has_timed() ? steps.timed() : steps.traced();
  return stats.has_median_ns() ? NsText(static_cast<double>(stats.median_ns()))
                               : kUnknown;
}

// Of the only device: several have no common number.
std::string BusyText(const v1::Answer& answer) {
  if (answer.breakdown_size() != 1 || !answer.breakdown(0).has_busy_share()) {
    return kUnknown;
  }
  return PercentText(answer.breakdown(0).busy_share());
}

std::string KernelsText(const v1::Structure& structure) {
  if (!structure.has_kernels()) return kUnknown;
  return MeanText(structure.kernels().mean(), 6);
}

std::string RateText(const v1::Answer& answer, const char* number,
                     const char* unit) {
  const auto found = answer.verdict().numbers().find(number);
  return found == answer.verdict().numbers().end()
             ? kUnknown
             : DecimalText(found->second.value(), unit);
}

// What copies move where they are the work, else what is declared to move.
std::string TrafficText(const v1::Answer& answer) {
  const bool copies = answer.verdict().kind() == v1::VERDICT_KIND_COPY_BOUND;
  return RateText(answer, copies ? "copy_bandwidth" : "attained_bandwidth",
                  "B/s");
}

// With a word where the numbers of the row are in doubt.
std::string VerdictText(const v1::Answer& answer) {
  const std::optional<VerdictKind> kind = FromProto(answer.verdict().kind());
  const std::optional<ValidityLevel> level =
      FromProto(answer.validity().level());
  if (!answer.has_verdict() || !kind.has_value()) {
    return level.has_value() ? std::string(ValidityLevelName(*level))
                             : kUnknown;
  }
  return absl::StrCat(VerdictKindName(*kind),
                      level == ValidityLevel::kUnstable
                          ? absl::StrCat(" (", ValidityLevelName(*level), ")")
                          : "");
}

std::string ChecksText(const v1::CheckTraceResponse& checks) {
  const auto passed = std::ranges::count_if(
      checks.results(), [](const v1::CheckResult& result) {
        return result.outcome() == v1::CHECK_OUTCOME_PASSED;
      });
  return absl::StrCat(passed, " of ", checks.results_size(), " passed");
}

nlohmann::json ErrorJson(const SweepResult& result) {
  if (result.answer.has_value() && result.status.ok()) return nullptr;
  nlohmann::json error = {{"message", SweepFault(result)}};
  if (const auto details = DetailsOf(result.status)) {
    error["reason"] = std::string(TextOf(details->reason).name);
  } else if (result.job.has_value()) {
    error["reason"] = result.job->error().reason();
  }
  return error;
}

// Of what PyTorch said the sentence; the rest is in the JSON and in `traza
// job`.
absl::string_view FirstLine(absl::string_view text) {
  return text.substr(0, text.find('\n'));
}

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename Message>
const google::protobuf::Message* OrNull(const std::optional<Message>& message) {
  return message.has_value() ? &*message : nullptr;
}

}  // namespace

std::string SweepFault(const SweepResult& result) {
  if (result.status.ok()) {
    const v1::JobError& error = result.job->error();
    return absl::StrCat(StateText(result.job->state()), " ", error.reason(),
                        ": ", error.message());
  }
  std::vector<std::string> parts;
  if (const std::optional<ErrorDetails> details = DetailsOf(result.status)) {
    for (const FieldViolation& violation : details->violations) {
      parts.push_back(
          absl::StrCat(violation.field, " ", violation.description));
    }
  }
  return parts.empty() ? std::string(result.status.message())
                       : absl::StrJoin(parts, "; ");
}

std::string RenderSweep(const std::vector<SweepPoint>& points,
                        const std::vector<SweepResult>& results, int width) {
  std::vector<ListColumn> columns;
  for (const auto& [key, value] : points.front().values) {
    columns.push_back({EscapeControlCharacters(key), Align::kRight});
  }
  const bool checked = std::ranges::any_of(
      results,
      [](const SweepResult& result) { return result.checks.has_value(); });
  for (const char* title : {"STEP P50", "BUSY", "KERNELS", "RATE", "TRAFFIC"}) {
    columns.push_back({title, Align::kRight});
  }
  if (checked) columns.push_back({"CHECKS"});
  columns.push_back({"VERDICT", Align::kLeft, true});
  ListTable table(std::move(columns));
  for (size_t i = 0; i < points.size(); ++i) {
    const SweepResult& result = results[i];
    std::vector<std::string> cells;
    for (const auto& [key, value] : points[i].values) {
      cells.push_back(EscapeControlCharacters(value));
    }
    if (result.answer.has_value()) {
      const v1::Answer& answer = *result.answer;
      for (std::string& cell : std::vector<std::string>{
               StepText(answer.steps()), BusyText(answer),
               KernelsText(answer.structure()),
               RateText(answer, "attained_flops", "FLOP/s"),
               TrafficText(answer)}) {
        cells.push_back(std::move(cell));
      }
      if (checked) {
        cells.push_back(result.checks ? ChecksText(*result.checks) : kUnknown);
      }
      cells.push_back(VerdictText(answer));
    } else {
      cells.insert(cells.end(), checked ? 6 : 5, kUnknown);
      cells.push_back(EscapeControlCharacters(FirstLine(SweepFault(result))));
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(width);
}

std::string SweepJson(const std::vector<SweepPoint>& points,
                      const std::vector<SweepResult>& results) {
  std::vector<std::string> objects;
  for (size_t i = 0; i < points.size(); ++i) {
    const SweepResult& result = results[i];
    nlohmann::json values = nlohmann::json::object();
    for (const auto& [key, value] : points[i].values) values[key] = value;
    const std::string rest = JsonObject({{"job", OrNull(result.job)},
                                         {"answer", OrNull(result.answer)},
                                         {"checks", OrNull(result.checks)}});
    // Before the brace that closes it.
    objects.push_back(absl::StrCat("{\n  \"values\": ", Dump(values),
                                   ",\n  \"error\": ", Dump(ErrorJson(result)),
                                   ",\n", rest.substr(2)));
  }
  return absl::StrCat(
      "{\n  \"sweep\": [\n    ",
      absl::StrReplaceAll(absl::StrJoin(objects, ",\n"), {{"\n", "\n    "}}),
      "\n  ]\n}\n");
}

}  // namespace traza
