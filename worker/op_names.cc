// SPDX-License-Identifier: Apache-2.0
#include "worker/op_names.h"

namespace traza {
namespace {

// FNV-1a: short names, no table, no state.
uint32_t HashOf(absl::string_view name) {
  uint32_t hash = 2166136261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

}  // namespace

OpNames::OpNames()
    : bytes_(new char[kMaxBytes]),
      text_(new const char*[kMaxNames]),
      slots_(new uint32_t[kSlots]()) {
  text_[kOverflow] = "(more names than there is room for)";
}

uint32_t OpNames::Intern(const char* name) {
  const absl::string_view text(name);
  while (busy_.test_and_set(std::memory_order_acquire)) {
  }
  uint32_t slot = 0;
  uint32_t id = Find(text, &slot);
  if (id == 0) id = Add(text, slot);
  busy_.clear(std::memory_order_release);
  return id;
}

uint32_t OpNames::Find(absl::string_view name, uint32_t* slot) const {
  *slot = HashOf(name) % kSlots;
  while (slots_[*slot] != 0) {
    if (name == text_[slots_[*slot]]) return slots_[*slot];
    *slot = (*slot + 1) % kSlots;
  }
  return 0;
}

uint32_t OpNames::Add(absl::string_view name, uint32_t slot) {
  const uint32_t id = size_.load(std::memory_order_relaxed);
  if (id == kMaxNames || used_bytes_ + name.size() + 1 > kMaxBytes) {
    return kOverflow;
  }
  char* const copy = bytes_.get() + used_bytes_;
  std::memcpy(copy, name.data(), name.size());
  copy[name.size()] = '\0';
  used_bytes_ += name.size() + 1;
  text_[id] = copy;
  slots_[slot] = id;
  size_.store(id + 1, std::memory_order_release);
  return id;
}

}  // namespace traza
