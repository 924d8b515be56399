// SPDX-License-Identifier: Apache-2.0
#include "workloads/aoti_package.h"

#include <exception>
#include <utility>

#include "ATen/DeviceAccelerator.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "torch/csrc/inductor/aoti_package/model_package_loader.h"

#include "base/error.h"
#include "base/utf8.h"
#include "workloads/tensors.h"
#include "workloads/unpacked_package.h"

namespace traza {
namespace {

constexpr size_t kMaxTextBytes = 600;

absl::Status Unusable(const std::string& path, absl::string_view what,
                      absl::string_view advice) {
  const std::string valid =
      ToValidUtf8(what.substr(0, what.find("\nException raised from")));
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kModelUnusable)
      .With("file", path)
      .Build(absl::StrCat(
          path, " does not load: ",
          CutUtf8(absl::StripAsciiWhitespace(valid), kMaxTextBytes), ". ",
          advice));
}

}  // namespace

AotiPackage::AotiPackage(
    std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader)
    : loader_(std::move(loader)) {}

AotiPackage::~AotiPackage() = default;

absl::StatusOr<std::shared_ptr<AotiPackage>> AotiPackage::Load(
    const std::string& path, absl::string_view device,
    absl::string_view advice) {
  const auto index =
      static_cast<c10::DeviceIndex>(DeviceIndexOf(std::string(device)));
  const UnpackedPackage unpacked(path);
  try {
    // The package runs on the current stream of the current device.
    if (index >= 0) at::accelerator::setDeviceIndex(index);
    // One thread runs it: no pool of models, and no events between its runs.
    auto loader = std::make_unique<torch::inductor::AOTIModelPackageLoader>(
        path, "model", /*run_single_threaded=*/true, /*num_runners=*/1, index);
    return std::shared_ptr<AotiPackage>(new AotiPackage(std::move(loader)));
  } catch (const std::exception& error) {
    unpacked.RemoveLeftovers();
    return Unusable(path, error.what(), advice);
  }
}

std::vector<at::Tensor> AotiPackage::Run(
    const std::vector<at::Tensor>& inputs) {
  return loader_->run(inputs);
}

}  // namespace traza
