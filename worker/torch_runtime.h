// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_TORCH_RUNTIME_H_
#define WORKER_TORCH_RUNTIME_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "spec/worker_description.h"

namespace traza {

// PyTorch in this process, and the devices that it can use.
//
// Create it once, before anything else calls PyTorch: PyTorch decides at the
// first question whether there is CUDA, and keeps to it. Thread-compatible.
class TorchRuntime {
 public:
  // Opens PyTorch's CUDA half when a driver is there (0.15 s), and never
  // fails: what is missing is said in no_gpu() or in the device.
  TorchRuntime();

  // "torch", and with a driver "driver" and "cuda".
  const std::map<std::string, std::string>& versions() const {
    return versions_;
  }
  // The CPU first. Without measured speed.
  const std::vector<DeviceDescription>& devices() const { return devices_; }
  // The device of that id; null when there is none.
  const DeviceDescription* FindDevice(absl::string_view id) const;
  // Why there is no GPU, in one sentence; empty when there is one.
  const std::string& no_gpu() const { return no_gpu_; }
  // Threads that an operator uses on the CPU.
  int threads() const;

  // These may throw what PyTorch throws.

  // FLOP/s of a small matrix product by dtype: about 0.1 s in all.
  std::map<std::string, double> MeasureCpu() const;
  // Makes a GPU the one that the calls of this thread go to where they name
  // none. Without it they go to the first, and open a context there: 0.6 GiB of
  // the memory of somebody else's device.
  void MakeCurrent(absl::string_view device) const;
  // Waits until the device has done its work.
  void Synchronize(absl::string_view device) const;
  // How often PyTorch has got memory from the device (cudaMalloc); 0 on the
  // CPU.
  int64_t DeviceAllocations(absl::string_view device) const;
  // Runs a small matrix product of every dtype: what only the first one in a
  // process pays for (context, handles, workspaces, modules, thread pools) is
  // paid.
  void RunThrowawaySteps(absl::string_view device) const;

 private:
  void OpenCuda();

  std::map<std::string, std::string> versions_;
  std::vector<DeviceDescription> devices_;
  std::string no_gpu_;
};

}  // namespace traza

#endif  // WORKER_TORCH_RUNTIME_H_
