// SPDX-License-Identifier: Apache-2.0
// Compares what two workloads computed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/utf8.h"
#include "trace/analysis/check_observe.h"
#include "trace/analysis/diff_output.h"
#include "trace/header.h"
#include "trace/quantity.h"

namespace traza {
namespace {

constexpr size_t kMaxTextBytes = 100;  // of a text from a file

std::string Shown(const std::string& text) {
  return EscapeControlCharacters(CutUtf8(text, kMaxTextBytes));
}

std::string NumbersText(const Fingerprint& print) {
  return absl::StrCat(Shown(print.dtype), Shown(print.shape), ", ",
                      CountText(print.elements, "element"), ", norm ",
                      absl::StrFormat("%.9g", print.norm), ", sum ",
                      absl::StrFormat("%.9g", print.sum),
                      print.finite ? "" : ", not finite");
}

// What makes two runs compute something else before any rounding.
std::string OtherInputs(const JobSpec& ours, const JobSpec& theirs) {
  std::vector<std::string> what;
  if (ours.workload != theirs.workload) what.emplace_back("workload");
  if (ours.params != theirs.params) what.emplace_back("parameters");
  if (ours.seed != theirs.seed) what.emplace_back("seed");
  return what.empty() ? ""
                      : absl::StrCat("They ran with another ",
                                     absl::StrJoin(what, ", another "), ".");
}

}  // namespace

Observation CompareOutput(const CheckSubject& subject,
                          const CheckSubject& baseline) {
  const Header& ours = subject.trace().header;
  const Header& theirs = baseline.trace().header;
  for (const auto& [header, which] :
       {std::pair(&ours, "The trace"), std::pair(&theirs, "The baseline")}) {
    if (header->fingerprint.has_value()) continue;
    return Observation::Missing(absl::StrCat(
        which, " does not say what its work computed: only jobs of traza do."));
  }
  // Two outputs that are no numbers agree about nothing.
  const bool same = ours.fingerprint->finite && theirs.fingerprint->finite &&
                    SameOutput(theirs.fingerprint, ours.fingerprint) == true;
  Observation observation = Observation::Bool(same);
  observation.notes.push_back(absl::StrCat(
      "Here: ", NumbersText(*ours.fingerprint),
      "; in the baseline: ", NumbersText(*theirs.fingerprint), "; tolerance ",
      absl::StrFormat("%.3g",
                      ToleranceOf(*ours.fingerprint, *theirs.fingerprint)),
      " of the norm."));
  std::string inputs = OtherInputs(ours.job, theirs.job);
  if (!inputs.empty()) observation.notes.push_back(std::move(inputs));
  return observation;
}

}  // namespace traza
