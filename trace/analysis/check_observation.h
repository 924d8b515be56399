// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_OBSERVATION_H_
#define TRACE_ANALYSIS_CHECK_OBSERVATION_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace traza {

// What a trace says about a quantity: a value, a word, or what is missing.
struct Observation {
  // Why there is no value, in sentences that say how to get one; then nothing
  // else counts.
  std::string missing;

  // In the unit of the quantity. A quantity of single steps has a value in each
  // of them: then `value` is their mean, `least` and `most` differ from it.
  double value = 0;
  double least = 0;
  double most = 0;

  std::string word;         // of a quantity with words
  std::string numerator;    // of a ratio
  std::string denominator;  // of a ratio
  // What it was measured on; values with another basis do not compare.
  std::string basis;
  std::vector<std::string> notes;  // sentences
  std::vector<int64_t> event_ids;

  bool known() const { return missing.empty(); }

  static Observation Missing(std::string why) {
    Observation observation;
    observation.missing = std::move(why);
    return observation;
  }
  static Observation Of(double value) {
    Observation observation;
    observation.value = observation.least = observation.most = value;
    return observation;
  }
  static Observation Word(std::string word) {
    Observation observation;
    observation.word = std::move(word);
    return observation;
  }
  static Observation Bool(bool value) { return Word(value ? "true" : "false"); }
};

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_OBSERVATION_H_
