// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_OP_NAMES_H_
#define WORKER_OP_NAMES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/string_view.h"

namespace traza {

// Names of operators and ranges by number, without a heap allocation after
// construction: PyTorch's name pointers die with the range that owns them, so
// each name is copied when it is first seen.
//
// Thread-safe. Names past the room get kOverflow and lose their text.
class OpNames {
 public:
  static constexpr uint32_t kMaxNames = 1 << 14;
  static constexpr size_t kMaxBytes = size_t{1} << 20;
  static constexpr uint32_t kOverflow = 0;

  OpNames();

  // Finds or adds a name: a hash, and a spin lock that is free in practice.
  uint32_t Intern(const char* name);

  // Of ids that Intern() returned.
  const char* text(uint32_t id) const { return text_[id]; }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kSlots = 2 * kMaxNames;

  uint32_t Find(absl::string_view name, uint32_t* slot) const;
  uint32_t Add(absl::string_view name, uint32_t slot);

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::atomic<uint32_t> size_{1};
  size_t used_bytes_ = 0;
  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<const char*[]> text_;  // by id
  std::unique_ptr<uint32_t[]> slots_;    // open addressing; 0 is empty
};

// One thread's short way to OpNames: the last names by address. An address can
// be reused by another name, so the text is compared, which for the length of
// an operator's name costs less than a hash.
class OpNameCache {
 public:
  uint32_t Intern(OpNames& names, const char* name) {
    Entry& entry = entries_[Index(name)];
    if (entry.address == name && std::strcmp(entry.text, name) == 0) {
      return entry.id;
    }
    entry.id = names.Intern(name);
    entry.address = entry.id == OpNames::kOverflow ? nullptr : name;
    entry.text = names.text(entry.id);
    return entry.id;
  }

 private:
  struct Entry {
    const char* address = nullptr;
    const char* text = nullptr;
    uint32_t id = 0;
  };
  static constexpr size_t kEntries = 256;

  static size_t Index(const char* name) {
    const auto address = reinterpret_cast<uintptr_t>(name);
    return (address >> 4 ^ address >> 12) % kEntries;
  }

  std::array<Entry, kEntries> entries_;
};

}  // namespace traza

#endif  // WORKER_OP_NAMES_H_
