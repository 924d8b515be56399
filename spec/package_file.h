// SPDX-License-Identifier: Apache-2.0
#ifndef SPEC_PACKAGE_FILE_H_
#define SPEC_PACKAGE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace traza {

// A member of a ZIP archive, as its directory has it.
struct ArchiveMember {
  std::string name;
  int64_t offset = 0;        // of its local header
  int64_t bytes = 0;         // unpacked
  int64_t stored_bytes = 0;  // in the archive
  bool compressed = false;   // PyTorch stores, it does not compress
};

// The directory of a ZIP archive (also with ZIP64 records, which PyTorch always
// writes). Format: PKWARE's APPNOTE 6.3, chapters 4.3.12 to 4.3.16.
//
// The file is hostile input: INVALID_ARGUMENT with what is wrong with it.
absl::StatusOr<std::vector<ArchiveMember>> ReadArchive(
    const std::filesystem::path& path);

// What a package of AOTInductor says of the host that it was compiled on.
struct PackageFacts {
  std::string device;                // "cuda", "cpu"; empty when not said
  std::string compute_capability;    // "9.0"; empty when not said
  std::string torch;                 // "2.11.0+cu130"; empty when not said
  int64_t largest_member_bytes = 0;  // what unpacking writes into one file
};

// INVALID_ARGUMENT when the file is no such package, or is damaged as far as
// its directory and its metadata show.
absl::StatusOr<PackageFacts> ReadPackage(const std::filesystem::path& path);

// Why a package does not run with that GPU ("9.0") and the worker's PyTorch
// ("2.11.0"); empty when nothing speaks against it.
std::string WhyNotOnGpu(const PackageFacts& facts,
                        absl::string_view compute_capability,
                        absl::string_view torch);

}  // namespace traza

#endif  // SPEC_PACKAGE_FILE_H_
