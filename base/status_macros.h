// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_STATUS_MACROS_H_
#define BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expr` is not OK.
#define RETURN_IF_ERROR(expr)                                     \
  do {                                                            \
    if (absl::Status traza_status_ = (expr); !traza_status_.ok()) \
      return traza_status_;                                       \
  } while (false)

#define TRAZA_CONCAT_INNER_(a, b) a##b
#define TRAZA_CONCAT_(a, b) TRAZA_CONCAT_INNER_(a, b)

// Evaluates `expr` (a StatusOr), returns its status on failure, else assigns
// the value: ASSIGN_OR_RETURN(const Job job, store.Get(id));
#define ASSIGN_OR_RETURN(lhs, expr) \
  TRAZA_ASSIGN_OR_RETURN_(TRAZA_CONCAT_(traza_statusor_, __LINE__), lhs, expr)

#define TRAZA_ASSIGN_OR_RETURN_(statusor, lhs, expr)       \
  auto statusor = (expr);                                  \
  if (!statusor.ok()) return std::move(statusor).status(); \
  lhs = *std::move(statusor)

#endif  // BASE_STATUS_MACROS_H_
