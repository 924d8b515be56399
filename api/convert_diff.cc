// SPDX-License-Identifier: Apache-2.0
#include "api/convert_diff.h"

#include <string>

#include "api/convert_enum.h"
#include "api/convert_trace.h"
#include "api/optional_fields.h"
#include "base/utf8.h"

namespace traza {
namespace {

#define TRAZA_DELTA_FIELDS(X) \
  X(before)                   \
  X(after)                    \
  X(difference)               \
  X(low)                      \
  X(high)                     \
  X(significant)

v1::Delta ToProto(const Delta& from) {
  v1::Delta to;
  TRAZA_DELTA_FIELDS(TRAZA_SET_OPTIONAL)
  to.set_unit(from.unit);
  return to;
}

Delta FromProto(const v1::Delta& from) {
  Delta to;
  TRAZA_DELTA_FIELDS(TRAZA_GET_OPTIONAL)
  to.unit = from.unit();
  return to;
}

v1::DiffEntry ToProto(const DiffEntry& from) {
  v1::DiffEntry to;
  for (const std::string& name : from.path) to.add_path(ToValidUtf8(name));
  to.set_change(traza::ToProto(from.change));
  to.set_text(ToValidUtf8(from.text));
  *to.mutable_count() = ToProto(from.count);
  *to.mutable_device_records() = ToProto(from.device_records);
  *to.mutable_bytes() = ToProto(from.bytes);
  *to.mutable_device_ns() = ToProto(from.device_ns);
  *to.mutable_cpu_ns() = ToProto(from.cpu_ns);
  *to.mutable_idle_ns() = ToProto(from.idle_ns);
  for (const StructureItem& item : from.removed) {
    *to.add_removed() = traza::ToProto(item);
  }
  for (const StructureItem& item : from.added)
    *to.add_added() = traza::ToProto(item);
  return to;
}

DiffEntry FromProto(const v1::DiffEntry& from) {
  DiffEntry to;
  to.path = {from.path().begin(), from.path().end()};
  to.change = traza::FromProto(from.change()).value_or(DiffChange::kChanged);
  to.text = from.text();
  to.count = FromProto(from.count());
  to.device_records = FromProto(from.device_records());
  to.bytes = FromProto(from.bytes());
  to.device_ns = FromProto(from.device_ns());
  to.cpu_ns = FromProto(from.cpu_ns());
  to.idle_ns = FromProto(from.idle_ns());
  for (const v1::StructureItem& item : from.removed()) {
    to.removed.push_back(traza::FromProto(item));
  }
  for (const v1::StructureItem& item : from.added()) {
    to.added.push_back(traza::FromProto(item));
  }
  return to;
}

}  // namespace

v1::Diff ToProto(const Diff& diff) {
  v1::Diff to;
  to.set_verdict(ToProto(diff.verdict));
  to.set_summary(ToValidUtf8(diff.summary));
  for (const std::string& reason : diff.reasons) {
    to.add_reasons(ToValidUtf8(reason));
  }
  if (diff.same_output.has_value()) to.set_same_output(*diff.same_output);
  *to.mutable_step_ns() = ToProto(diff.step_ns);
  if (diff.step_phase.has_value()) {
    to.set_step_phase(traza::ToProto(*diff.step_phase));
  }
  *to.mutable_busy_ns() = ToProto(diff.busy_ns);
  *to.mutable_idle_ns() = ToProto(diff.idle_ns);
  for (const std::string& change : diff.changes) {
    to.add_changes(ToValidUtf8(change));
  }
  for (const DiffEntry& entry : diff.entries) {
    *to.add_entries() = ToProto(entry);
  }
  to.set_all_entries(diff.all_entries);
  to.set_confidence(diff.confidence);
  to.set_fingerprint_before(diff.fingerprint_before);
  to.set_fingerprint_after(diff.fingerprint_after);
  to.set_work_fingerprint_before(diff.work_fingerprint_before);
  to.set_work_fingerprint_after(diff.work_fingerprint_after);
  return to;
}

Diff FromProto(const v1::Diff& diff) {
  Diff to;
  to.verdict = FromProto(diff.verdict()).value_or(DiffVerdict::kInconclusive);
  to.summary = diff.summary();
  to.reasons = {diff.reasons().begin(), diff.reasons().end()};
  if (diff.has_same_output()) to.same_output = diff.same_output();
  to.step_ns = FromProto(diff.step_ns());
  if (diff.has_step_phase()) {
    to.step_phase = traza::FromProto(diff.step_phase());
  }
  to.busy_ns = FromProto(diff.busy_ns());
  to.idle_ns = FromProto(diff.idle_ns());
  to.changes = {diff.changes().begin(), diff.changes().end()};
  for (const v1::DiffEntry& entry : diff.entries()) {
    to.entries.push_back(FromProto(entry));
  }
  to.all_entries = diff.all_entries();
  to.confidence = diff.confidence();
  to.fingerprint_before = diff.fingerprint_before();
  to.fingerprint_after = diff.fingerprint_after();
  to.work_fingerprint_before = diff.work_fingerprint_before();
  to.work_fingerprint_after = diff.work_fingerprint_after();
  return to;
}

}  // namespace traza
