// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_ANALYSIS_CHECK_OBSERVE_H_
#define TRACE_ANALYSIS_CHECK_OBSERVE_H_

#include "trace/analysis/check.h"
#include "trace/analysis/check_observation.h"
#include "trace/analysis/check_subject.h"

namespace traza {

// How each quantity of check_quantity.h is read from a trace that is not
// INVALID.

// Of single steps (check_counts.cc).
Observation ObserveKernels(const CheckSubject& trace,
                           const CheckExpression& check);
Observation ObserveCopies(const CheckSubject& trace,
                          const CheckExpression& check);
Observation ObserveFills(const CheckSubject& trace,
                         const CheckExpression& check);
Observation ObserveLaunches(const CheckSubject& trace,
                            const CheckExpression& check);
Observation ObserveOps(const CheckSubject& trace, const CheckExpression& check);
Observation ObserveSyncs(const CheckSubject& trace,
                         const CheckExpression& check);
Observation ObserveAllocs(const CheckSubject& trace,
                          const CheckExpression& check);
Observation ObserveBytes(const CheckSubject& trace,
                         const CheckExpression& check);
Observation ObserveDeviceTime(const CheckSubject& trace,
                              const CheckExpression& check);

// Of kernels (check_kernels.cc).
Observation ObserveKernelTime(const CheckSubject& trace,
                              const CheckExpression& check);
Observation ObserveOccupancy(const CheckSubject& trace,
                             const CheckExpression& check);
// Against the trace that the expression names.
Observation CompareKernels(const CheckSubject& trace,
                           const CheckSubject& baseline);

// The same of what was computed (check_output.cc).
Observation CompareOutput(const CheckSubject& trace,
                          const CheckSubject& baseline);

// How long steps take (check_times.cc).
Observation ObserveStepTime(const CheckSubject& trace,
                            const CheckExpression& check);
Observation ObserveTracedStepTime(const CheckSubject& trace,
                                  const CheckExpression& check);
Observation ObserveColdStepTime(const CheckSubject& trace,
                                const CheckExpression& check);
Observation ObserveOwnOverhead(const CheckSubject& trace,
                               const CheckExpression& check);
Observation ObserveOwnOverheadShare(const CheckSubject& trace,
                                    const CheckExpression& check);

// Of one device (check_devices.cc).
Observation ObserveBusy(const CheckSubject& trace,
                        const CheckExpression& check);
Observation ObserveIdle(const CheckSubject& trace,
                        const CheckExpression& check);
Observation ObserveIdleClass(const CheckSubject& trace,
                             const CheckExpression& check);
Observation ObserveBusyPerStep(const CheckSubject& trace,
                               const CheckExpression& check);
Observation ObserveLaunchLatency(const CheckSubject& trace,
                                 const CheckExpression& check);

// What the answer says in words (check_facts.cc).
Observation ObserveVerdict(const CheckSubject& trace,
                           const CheckExpression& check);
Observation ObserveConfidence(const CheckSubject& trace,
                              const CheckExpression& check);
Observation ObserveValidity(const CheckSubject& trace,
                            const CheckExpression& check);
Observation ObserveFinding(const CheckSubject& trace,
                           const CheckExpression& check);
Observation ObserveStable(const CheckSubject& trace,
                          const CheckExpression& check);
Observation ObservePartial(const CheckSubject& trace,
                           const CheckExpression& check);
Observation ObserveOutputFinite(const CheckSubject& trace,
                                const CheckExpression& check);
Observation ObserveLostRecords(const CheckSubject& trace,
                               const CheckExpression& check);
Observation ObservePeakMemory(const CheckSubject& trace,
                              const CheckExpression& check);

}  // namespace traza

#endif  // TRACE_ANALYSIS_CHECK_OBSERVE_H_
