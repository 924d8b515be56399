// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_AOTI_PACKAGE_H_
#define WORKLOADS_AOTI_PACKAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace at {
class Tensor;
}
namespace torch::inductor {
class AOTIModelPackageLoader;
}

namespace traza {

// A loaded package of AOTInductor (.pt2): one function from tensors to tensors
// that runs without the dispatcher, on the current stream of its device.
//
// PyTorch unpacks it to a folder below /tmp, which must allow programs, and
// removes that with this object; what a killed worker leaves there stays.
// Thread-compatible.
class AotiPackage {
 public:
  // Loads the file for "gpu0", ... or "cpu". FAILED_PRECONDITION /
  // MODEL_UNUSABLE with the loader's words, followed by `advice`.
  static absl::StatusOr<std::shared_ptr<AotiPackage>> Load(
      const std::string& path, absl::string_view device,
      absl::string_view advice);
  ~AotiPackage();

  // Runs it once. The package does not check what it gets: shapes, dtypes and
  // strides must be those that it was compiled for. May throw.
  std::vector<at::Tensor> Run(const std::vector<at::Tensor>& inputs);

 private:
  explicit AotiPackage(
      std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader);

  const std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader_;
};

}  // namespace traza

#endif  // WORKLOADS_AOTI_PACKAGE_H_
