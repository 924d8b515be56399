// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/utf8.h"
#include "trace/quantity.h"
#include "trace/render/counters.h"
#include "trace/render/display_width.h"
#include "trace/render/render.h"
#include "trace/render/text_table.h"

namespace traza {
namespace {

// Of a structure: a transformer block has hundreds of operators.
constexpr size_t kMaxItems = 12;

constexpr char kIndent[] = "  ";

std::string Ns(const std::optional<int64_t>& ns) {
  return ns.has_value() ? FormatNs(static_cast<double>(*ns)) : "n/a";
}

// Text of several lines, in the width of the terminal.
class Page {
 public:
  explicit Page(const RenderOptions& options) : options_(options) {}

  void Line(absl::string_view text) { absl::StrAppend(&text_, text, "\n"); }
  void Blank() {
    if (!text_.empty()) text_ += "\n";
  }
  // `text` after `label`, its further lines indented as deep.
  void Paragraph(absl::string_view label, absl::string_view text) {
    const int indent = DisplayWidth(label);
    // Too narrow to wrap beside the label: let the terminal do it.
    const int room = options_.width - indent;
    bool first = true;
    for (const std::string& line :
         WrapWords(text, options_.width > 0 && room >= 20 ? room : 0)) {
      Line(absl::StrCat(first ? std::string(label)
                              : std::string(static_cast<size_t>(indent), ' '),
                        line));
      first = false;
    }
  }
  void Append(absl::string_view text) { absl::StrAppend(&text_, text); }
  std::string Bold(absl::string_view text) const {
    return options_.color ? absl::StrCat("\033[1m", text, "\033[0m")
                          : std::string(text);
  }
  const RenderOptions& options() const { return options_; }
  std::string Take() { return std::move(text_); }

 private:
  const RenderOptions options_;
  std::string text_;
};

void AddContext(const Answer& answer, Page* page) {
  std::string line = answer.workload.empty() ? "Trace" : answer.workload;
  if (!answer.variant.empty()) {
    absl::StrAppend(&line, " (", answer.variant, ")");
  }
  if (!answer.device.empty()) absl::StrAppend(&line, " on ", answer.device);
  if (!answer.device_model.empty()) {
    absl::StrAppend(&line, ", ", answer.device_model);
  }
  page->Paragraph("", page->Bold(EscapeControlCharacters(line)));
  if (!answer.params.empty()) {
    page->Paragraph(kIndent,
                    EscapeControlCharacters(absl::StrJoin(
                        answer.params, "  ", absl::PairFormatter("="))));
  }
}

void AddStepsRow(const char* name, const std::optional<StepStats>& steps,
                 TextTable* table) {
  if (!steps.has_value()) return;
  std::string spread = "n/a";
  if (steps->count > 1 && steps->median_ns.value_or(0) > 0) {
    spread = PercentText(static_cast<double>(steps->mad_ns.value_or(0)) /
                         static_cast<double>(*steps->median_ns));
  }
  table->AddRow(
      {name, CountText(steps->count), Ns(steps->median_ns), spread,
       Ns(steps->min_ns), Ns(steps->p99_ns), Ns(steps->max_ns),
       steps->first_ns.empty() ? "n/a" : Ns(steps->first_ns.front())});
}

void AddOverhead(const StepsAnswer& steps, Page* page) {
  const auto added = static_cast<double>(*steps.own_overhead_ns);
  const auto spread =
      static_cast<double>(steps.own_overhead_spread_ns.value_or(0));
  std::string text =
      absl::StrCat(FormatNs(added), " +- ", FormatNs(spread), " a step");
  if (steps.own_overhead_share.has_value()) {
    absl::StrAppend(&text, ", ", PercentText(*steps.own_overhead_share),
                    " of a timed one");
  }
  if (std::abs(added) <= spread || added < 0) {
    text = absl::StrCat("nothing that the spread lets see (", text, ")");
  }
  page->Paragraph("Tracing adds ", absl::StrCat(text, "."));
}

void AddSteps(const StepsAnswer& steps, Page* page) {
  if (!steps.cold.has_value() && !steps.warmup.has_value() &&
      !steps.timed.has_value() && !steps.traced.has_value()) {
    return;
  }
  page->Blank();
  TextTable table({{"Steps", 9},
                   {"Count", 8},
                   {"Median", 9},
                   {"MAD", 7},
                   {"Min", 3},
                   {"p99", 2},
                   {"Max", 4},
                   {"First", 5}});
  AddStepsRow("cold", steps.cold, &table);
  AddStepsRow("warm-up", steps.warmup, &table);
  AddStepsRow("timed", steps.timed, &table);
  AddStepsRow("traced", steps.traced, &table);
  page->Append(table.Render(page->options()));
  if (steps.own_overhead_ns.has_value()) AddOverhead(steps, page);
}

void AddStructure(const Structure& structure, Page* page) {
  if (structure.per_step.empty()) return;
  int64_t total = 0;
  std::vector<std::string> items;
  bool device = false;
  for (const StructureItem& item : structure.per_step) {
    total += item.count;
    device = device || IsDeviceWork(item.kind);
    if (items.size() < kMaxItems) {
      // Kernel names are as long as a page.
      std::string name = CutMiddle(EscapeControlCharacters(item.name), 60);
      if (item.count > 1) absl::StrAppend(&name, " x", CountText(item.count));
      items.push_back(std::move(name));
    }
  }
  if (structure.per_step.size() > kMaxItems) {
    items.push_back(absl::StrCat(
        "and ",
        CountText(static_cast<int64_t>(structure.per_step.size() - kMaxItems)),
        " other names"));
  }
  page->Blank();
  page->Paragraph(
      "Each step: ",
      absl::StrCat(CountText(total, device ? "device record" : "operator"),
                   ": ", absl::StrJoin(items, ", "), "."));
  page->Paragraph(
      kIndent,
      structure.stable
          ? (structure.steps == 1
                 ? std::string("There is one step.")
                 : absl::StrCat("All ", CountText(structure.steps),
                                " steps have the same."))
          : absl::StrCat(CountText(structure.deviating_steps), " of ",
                         CountText(structure.steps), " steps differ."));
}

void AddBreakdown(const std::vector<DeviceBreakdown>& devices, Page* page) {
  if (devices.empty()) return;
  page->Blank();
  for (const DeviceBreakdown& device : devices) {
    const auto window = static_cast<double>(device.window_ns);
    const std::string share =
        device.window_ns > 0
            ? PercentText(static_cast<double>(device.busy_ns) / window)
            : "n/a";
    page->Paragraph(
        absl::StrCat("Device ", device.device, ": "),
        absl::StrCat("busy ", share, " (", Ns(device.busy_ns), " of ",
                     FormatNs(window), "), idle ", Ns(device.idle_ns), "; ",
                     CountText(device.records, "record"), "."));
  }
}

void AddFingerprint(const std::optional<Fingerprint>& print, Page* page) {
  if (!print.has_value()) return;
  std::string text =
      print->finite ? absl::StrFormat("finite, sum %.6g, norm %.6g", print->sum,
                                      print->norm)
                    : std::string("NOT FINITE: it has NaN or infinity in it");
  if (!print->dtype.empty()) {
    absl::StrAppend(&text, "; ", print->dtype, print->shape);
  }
  page->Paragraph("Output: ", absl::StrCat(EscapeControlCharacters(text), "."));
}

void AddMissed(const Validity& validity, Page* page) {
  bool first = true;
  for (const Criterion& criterion : validity.criteria) {
    if (criterion.met) continue;
    if (first) {
      page->Blank();
      page->Line(page->Bold("Not met:"));
      first = false;
    }
    page->Paragraph(
        absl::StrCat(kIndent, criterion.id, "  "),
        EscapeControlCharacters(absl::StrCat(
            criterion.observed, " (wanted: ", criterion.threshold, ").")));
    if (!criterion.advice.empty()) {
      page->Paragraph("      ", EscapeControlCharacters(criterion.advice));
    }
  }
}

void AddFindings(const std::vector<Finding>& findings, Page* page) {
  if (findings.empty()) return;
  page->Blank();
  page->Line(page->Bold("Findings:"));
  for (const Finding& finding : findings) {
    page->Paragraph(absl::StrCat(kIndent, finding.severity, "  "),
                    EscapeControlCharacters(
                        absl::StrCat(finding.title, " [", finding.id, "]")));
    if (!finding.suggestion.empty()) {
      page->Paragraph("      ", EscapeControlCharacters(finding.suggestion));
    }
  }
}

std::string VerdictLine(const Answer& answer) {
  if (answer.verdict.has_value()) {
    const Verdict& verdict = *answer.verdict;
    return absl::StrCat("Verdict: ", VerdictKindName(verdict.kind), "  ",
                        verdict.summary, " Confidence ",
                        PercentText(verdict.confidence, 2), ".");
  }
  if (answer.validity.level == ValidityLevel::kInvalid) {
    return "Verdict: none, the trace is INVALID.";
  }
  return "Verdict: none, this version gives one for CPU-only traces.";
}

}  // namespace

std::string RenderAnswer(const Answer& answer, const RenderOptions& options) {
  Page page(options);
  AddContext(answer, &page);
  if (!answer.note.empty()) {
    page.Paragraph(kIndent, EscapeControlCharacters(answer.note));
  }
  AddSteps(answer.steps, &page);
  AddStructure(answer.structure, &page);
  AddBreakdown(answer.breakdown, &page);
  AddMissed(answer.validity, &page);
  AddFindings(answer.findings, &page);
  page.Blank();
  AddFingerprint(answer.fingerprint, &page);
  page.Paragraph("Completeness: ", CompletenessText(answer));
  int64_t met = 0;
  for (const Criterion& criterion : answer.validity.criteria) {
    met += criterion.met ? 1 : 0;
  }
  page.Line(absl::StrCat("Validity: ", ValidityLevelName(answer.validity.level),
                         "  ", met, " of ", answer.validity.criteria.size(),
                         " criteria met."));
  page.Line(page.Bold(EscapeControlCharacters(VerdictLine(answer))));
  return page.Take();
}

}  // namespace traza
