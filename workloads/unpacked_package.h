// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_UNPACKED_PACKAGE_H_
#define WORKLOADS_UNPACKED_PACKAGE_H_

#include <filesystem>
#include <set>
#include <string>

namespace traza {

// The folder that PyTorch's loader unpacks a package to. The loader chooses its
// name, and leaves it behind when the package does not load: with weights in
// it that is gigabytes for each try.
class UnpackedPackage {
 public:
  // Before the loader runs: what is in `temporary` now is not its.
  explicit UnpackedPackage(std::filesystem::path package,
                           std::filesystem::path temporary = "/tmp");

  // Removes what has come since, when it is ours and has files of the package
  // and no others: another program may unpack one at the same time.
  void RemoveLeftovers() const;

 private:
  const std::filesystem::path package_;
  const std::filesystem::path temporary_;
  std::set<std::string> before_;
};

}  // namespace traza

#endif  // WORKLOADS_UNPACKED_PACKAGE_H_
