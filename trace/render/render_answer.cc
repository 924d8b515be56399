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
#include "trace/render/page.h"
#include "trace/render/render.h"
#include "trace/render/render_device.h"
#include "trace/render/text_table.h"

namespace traza {
namespace {

// Of a structure: a transformer block has hundreds of operators.
constexpr size_t kMaxItems = 12;

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
      {name, CountText(steps->count), NsOrNone(steps->median_ns), spread,
       NsOrNone(steps->min_ns), NsOrNone(steps->p99_ns),
       NsOrNone(steps->max_ns),
       steps->first_ns.empty() ? "n/a" : NsOrNone(steps->first_ns.front())});
}

// Chosen: as a share of a timed step. Tracing makes the shortest steps of tiny
// operators a few times longer, not this.
constexpr double kMostBelievable = 9;

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
  if (steps.own_overhead_share.value_or(0) > kMostBelievable) {
    page->Paragraph(
        "", absl::StrCat("Traced steps took ", text,
                         " more than timed ones: more than tracing "
                         "costs. Something else ran meanwhile; run it again."));
    return;
  }
  if (std::abs(added) <= spread || added < 0) {
    text = absl::StrCat("nothing that the spread lets see (", text, ")");
  }
  page->Paragraph("Tracing adds ", absl::StrCat(text, "."));
}

void AddPerturbed(const PerturbedSteps& perturbed, Page* page) {
  std::string text = absl::StrCat(
      CountText(perturbed.count), " of ",
      CountText(perturbed.traced_steps, "step"),
      ", in which the tracer was at work: ",
      absl::StrJoin(perturbed.numbers, ", "),
      static_cast<int64_t>(perturbed.numbers.size()) < perturbed.count ? ", ..."
                                                                       : "",
      ".");
  page->Paragraph(perturbed.count < perturbed.traced_steps
                      ? "Left out of the traced: "
                      : "Perturbed: ",
                  text);
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
  AddStepsRow("  its CPU", steps.traced_host, &table);
  page->Append(table.Render(page->options()));
  if (steps.own_overhead_ns.has_value()) AddOverhead(steps, page);
  if (steps.perturbed.has_value() && steps.perturbed->count > 0) {
    AddPerturbed(*steps.perturbed, page);
  }
}

std::string AllStepsText(const Structure& structure) {
  if (structure.averaged) {
    return absl::StrCat("That is the work of all ",
                        CountText(structure.steps, "step"),
                        " by their number; no step is known of it.");
  }
  if (!structure.stable) {
    std::string text =
        absl::StrCat(CountText(structure.deviating_steps), " of ",
                     CountText(structure.steps), " steps differ");
    if (structure.kernels.has_value()) {
      absl::StrAppend(&text, "; ", MeanText(structure.kernels->mean),
                      " kernels a step, variance ",
                      MeanText(structure.kernels->variance.value_or(0), 3));
    }
    return absl::StrCat(text, ".");
  }
  return structure.steps == 1 ? std::string("There is one step.")
                              : absl::StrCat("All ", CountText(structure.steps),
                                             " steps have the same.");
}

// What of two traces is compared to see whether they do the same.
std::string OrderText(const Structure& structure) {
  return absl::StrCat(
      "Fingerprint ", structure.fingerprint, ", of the work alone ",
      structure.work_fingerprint,
      structure.reordered_steps > 0
          ? absl::StrCat("; ", CountText(structure.reordered_steps, "step"),
                         " launched it in another order or from other "
                         "operators")
          : "",
      ".");
}

void AddStructure(const Structure& structure, Page* page) {
  if (structure.per_step.empty()) {
    if (structure.averaged && structure.kernels.has_value()) {
      page->Blank();
      page->Paragraph("Each step: ",
                      absl::StrCat(MeanText(structure.kernels->mean),
                                   " kernels on average; no step is known of "
                                   "device work."));
    }
    return;
  }
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
  page->Paragraph(kIndent, AllStepsText(structure));
  if (!structure.fingerprint.empty()) {
    page->Paragraph(kIndent, OrderText(structure));
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

// Of what is as expected the line alone is enough.
void AddExpectations(const std::vector<ExpectationAnswer>& expectations,
                     Page* page) {
  if (expectations.empty()) return;
  page->Blank();
  page->Line(page->Bold("Expected before it ran:"));
  for (const ExpectationAnswer& expectation : expectations) {
    const CheckResult& check = expectation.check;
    page->Paragraph(
        absl::StrCat(kIndent,
                     absl::StrFormat(
                         "%-7s", std::string(CheckOutcomeName(check.outcome))),
                     "  "),
        EscapeControlCharacters(check.expression));
    if (check.outcome == CheckOutcome::kPassed) continue;
    page->Paragraph("           ", EscapeControlCharacters(check.message));
    if (!expectation.why.empty()) {
      page->Paragraph("           Expected because: ",
                      EscapeControlCharacters(expectation.why));
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
  return "Verdict: none, the note at the top says why.";
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
  AddDevices(answer.breakdown, &page);
  AddMissed(answer.validity, &page);
  AddExpectations(answer.expectations, &page);
  AddFindings(answer.findings, &page);
  if (answer.verdict.has_value()) AddGrounds(*answer.verdict, &page);
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
