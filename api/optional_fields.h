// SPDX-License-Identifier: Apache-2.0
#ifndef API_OPTIONAL_FIELDS_H_
#define API_OPTIONAL_FIELDS_H_

// Copies one field of the same name between a std::optional and an optional
// proto field, from `from` to `to`; for lists of fields in X-macro form, so
// that both directions share one list.
#define TRAZA_SET_OPTIONAL(field) \
  if (from.field.has_value()) to.set_##field(*from.field);
#define TRAZA_GET_OPTIONAL(field) \
  if (from.has_##field()) to.field = from.field();

#endif  // API_OPTIONAL_FIELDS_H_
