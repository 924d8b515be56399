// SPDX-License-Identifier: Apache-2.0
#include "trace/render/render_diff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/utf8.h"
#include "trace/quantity.h"
#include "trace/render/display_width.h"
#include "trace/render/page.h"
#include "trace/render/text_table.h"

namespace traza {
namespace {

std::string Value(double value, const std::string& unit) {
  if (unit == "ns") return FormatNs(value);
  if (unit == "bytes") return FormatBytes(value);
  if (unit == "count") return MeanText(value);
  return absl::StrFormat("%.4g", value);
}

std::string Signed(double value, const std::string& unit) {
  return absl::StrCat(value > 0 ? "+" : "", Value(value, unit));
}

std::string ValueOrNone(const std::optional<double>& value,
                        const Delta& delta) {
  return value.has_value() ? Value(*value, delta.unit) : "n/a";
}

// "-29.1 us"; with "~" where an interval says that it may be 0, and "?" where
// there is none.
std::string Difference(const Delta& delta) {
  if (!delta.difference.has_value()) return "";
  if (*delta.difference == 0) return "0";
  return absl::StrCat(!delta.significant.has_value() ? "?"
                      : *delta.significant           ? ""
                                                     : "~",
                      Signed(*delta.difference, delta.unit));
}

std::string Interval(const Delta& delta) {
  if (!delta.low.has_value() || !delta.high.has_value()) return "n/a";
  return absl::StrCat(Signed(*delta.low, delta.unit), " to ",
                      Signed(*delta.high, delta.unit));
}

void AddTotal(const char* name, const Delta& delta, TextTable* table) {
  if (!delta.before.has_value() && !delta.after.has_value()) return;
  std::string share;
  if (delta.difference.has_value() && delta.before.value_or(0) > 0) {
    share = absl::StrCat(*delta.difference > 0 ? "+" : "",
                         PercentText(*delta.difference / *delta.before));
  }
  table->AddRow({name, ValueOrNone(delta.before, delta),
                 ValueOrNone(delta.after, delta), Difference(delta), share,
                 Interval(delta)});
}

void AddTotals(const Diff& diff, Page* page) {
  TextTable table(
      {{"A step", 9},
       {"Before", 8},
       {"After", 7},
       {"Change", 9},
       {"%", 6},
       {absl::StrFormat("%.4g %% interval", diff.confidence * 100), 5}});
  AddTotal(diff.step_phase == Phase::kTraced ? "time, traced" : "time",
           diff.step_ns, &table);
  AddTotal("device busy", diff.busy_ns, &table);
  AddTotal("device idle", diff.idle_ns, &table);
  page->Append(table.Render(page->options()));
}

void AddOutputs(const Diff& diff, Page* page) {
  if (diff.same_output.has_value()) {
    page->Paragraph("Output: ", *diff.same_output
                                    ? "the same, by its sum and norm."
                                    : "NOT the same: the two did not compute "
                                      "the same thing.");
  }
  if (!diff.fingerprint_before.empty() &&
      diff.fingerprint_before == diff.fingerprint_after) {
    page->Paragraph("Work: ",
                    "the same, launched by the same operators in the same "
                    "order.");
  } else if (!diff.work_fingerprint_before.empty() &&
             diff.work_fingerprint_before == diff.work_fingerprint_after) {
    page->Paragraph("Work: ",
                    "the same in the same order, launched otherwise.");
  }
}

void AddList(const char* title, const std::vector<std::string>& texts,
             Page* page) {
  if (texts.empty()) return;
  page->Blank();
  page->Line(page->Bold(title));
  for (const std::string& text : texts) {
    page->Paragraph("  - ", EscapeControlCharacters(text));
  }
}

const char* MarkOf(DiffChange change) {
  switch (change) {
    case DiffChange::kAdded:
      return "+ ";
    case DiffChange::kRemoved:
      return "- ";
    case DiffChange::kChanged:
      return "* ";
    case DiffChange::kSame:
      return "  ";
  }
  return "";
}

// "* mlp_fwd > aten::linear: kernel a became b".
std::string PartText(const DiffEntry& entry) {
  std::string path = absl::StrJoin(entry.path, " > ");
  if (path.empty())
    path = entry.text;
  else if (!entry.text.empty())
    absl::StrAppend(&path, ": ", entry.text);
  return EscapeControlCharacters(absl::StrCat(MarkOf(entry.change), path));
}

std::string Counts(const Delta& delta) {
  if (!delta.before.has_value() || !delta.after.has_value()) return "";
  if (*delta.before == *delta.after) return Value(*delta.before, delta.unit);
  return absl::StrCat(Value(*delta.before, delta.unit), " -> ",
                      Value(*delta.after, delta.unit));
}

void AddEntries(const Diff& diff, Page* page) {
  if (diff.entries.empty()) return;
  struct DeltaColumn {
    TextTable::Column column;
    const Delta DiffEntry::* delta;
    bool counts;
  };
  const std::vector<DeltaColumn> columns = {
      {{"Times", 3}, &DiffEntry::count, true},
      {{"Records", 5}, &DiffEntry::device_records, true},
      {{"Device", 9}, &DiffEntry::device_ns, false},
      {{"Idle", 7}, &DiffEntry::idle_ns, false},
      {{"CPU", 8}, &DiffEntry::cpu_ns, false},
      {{"Bytes", 4}, &DiffEntry::bytes, false},
  };
  std::vector<TextTable::Column> titles = {{"  Part of a step", 10}};
  std::vector<const DeltaColumn*> shown;
  for (const DeltaColumn& column : columns) {
    const bool any =
        std::ranges::any_of(diff.entries, [&](const DiffEntry& entry) {
          const Delta& delta = entry.*(column.delta);
          return delta.before.has_value() || delta.after.has_value();
        });
    if (!any) continue;
    titles.push_back(column.column);
    shown.push_back(&column);
  }
  TextTable table(std::move(titles));
  for (const DiffEntry& entry : diff.entries) {
    std::vector<std::string> cells = {PartText(entry)};
    for (const DeltaColumn* column : shown) {
      const Delta& delta = entry.*(column->delta);
      cells.push_back(column->counts ? Counts(delta) : Difference(delta));
    }
    table.AddRow(std::move(cells));
  }
  page->Blank();
  page->Append(table.Render(page->options()));
  const auto left =
      diff.all_entries - static_cast<int64_t>(diff.entries.size());
  if (left > 0) {
    page->Paragraph("", absl::StrCat(CountText(left),
                                     " parts more, with smaller differences."));
  }
  page->Paragraph(
      "",
      "+ new, - gone, * changed. Changes of medians; ~ may be none by its "
      "interval, ? has none. Intervals are over the steps of these two runs: "
      "what "
      "differs from run to run is not in them.");
}

}  // namespace

std::string RenderDiff(const Diff& diff, const RenderOptions& options) {
  Page page(options);
  AddTotals(diff, &page);
  AddOutputs(diff, &page);
  AddList("Changes:", diff.changes, &page);
  AddEntries(diff, &page);
  AddList("Read with care:", diff.reasons, &page);
  page.Blank();
  page.Paragraph(absl::StrCat("Verdict: ", DiffVerdictName(diff.verdict), "  "),
                 EscapeControlCharacters(diff.summary));
  return page.Take();
}

}  // namespace traza
