// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_NOTES_H_
#define TRACE_ANALYSIS_NOTES_H_

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "trace/analysis/answer.h"

namespace traza {

// Adds a sentence to the note of the answer.
inline void AddNote(absl::string_view sentence, Answer* answer) {
  if (!answer->note.empty()) answer->note += ' ';
  absl::StrAppend(&answer->note, sentence);
}

}  // namespace traza

#endif  // TRACE_ANALYSIS_NOTES_H_
