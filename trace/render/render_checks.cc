// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/utf8.h"
#include "trace/analysis/check_units.h"
#include "trace/quantity.h"
#include "trace/render/page.h"
#include "trace/render/render.h"

namespace traza {
namespace {

std::string Shown(absl::string_view text) {
  return EscapeControlCharacters(text);
}

std::string ObservedText(const CheckResult& result) {
  if (result.number.has_value()) return CheckValueText(*result.number);
  return result.word.empty() ? "n/a" : Shown(result.word);
}

}  // namespace

std::string RenderChecks(const std::vector<CheckResult>& results,
                         const RenderOptions& options) {
  Page page(options);
  int64_t passed = 0;
  for (const CheckResult& result : results) {
    const bool ok = result.outcome == CheckOutcome::kPassed;
    passed += ok;
    page.Line(absl::StrCat(
        page.Bold(absl::StrFormat(
            "%-7s", std::string(CheckOutcomeName(result.outcome)))),
        "  ", Shown(result.expression), "  (", ObservedText(result), ")"));
    if (!ok) page.Paragraph("         ", Shown(result.message));
  }
  page.Line(absl::StrCat("Checks: ", CountText(passed), " of ",
                         CountText(static_cast<int64_t>(results.size())),
                         " passed"));
  return page.Take();
}

}  // namespace traza
