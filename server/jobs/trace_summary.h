// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_JOBS_TRACE_SUMMARY_H_
#define SERVER_JOBS_TRACE_SUMMARY_H_

#include <functional>
#include <string>

#include "server/jobs/taken_trace.h"
#include "trace/analysis/answer.h"
#include "trace/trace.h"

namespace traza {

// Encodes the answer that is stored beside a trace.
using AnswerEncoder = std::function<std::string(const Answer&)>;

// Answers the questions once: the answer, the counts, and of the row what the
// trace itself says (rows, validity, verdict, partial).
TakenTrace Summarize(const Trace& trace, const AnswerEncoder& encode);

// Gives the memory of a trace that is gone back to the system, where it is
// worth the time.
void ReleaseMemoryOf(int64_t rows);

}  // namespace traza

#endif  // SERVER_JOBS_TRACE_SUMMARY_H_
