// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_CUDA_GRAPH_H_
#define WORKLOADS_CUDA_GRAPH_H_

#include <functional>
#include <memory>
#include <string>

namespace traza {

// The device work of one call of a function, captured once and launched as
// often as wanted with one call. The driver is found at run time: a program
// that uses this needs no CUDA library.
//
// What the function allocates while it is captured comes from memory that
// PyTorch keeps for the graph's own stream. Nothing else runs there, so nobody
// gets that memory as long as the graph lives. Tensors that the function writes
// and that are read later must be kept by the caller.
//
// Thread-compatible; all calls have to come from one thread.
class CudaGraph {
 public:
  // Calls `work` three times on a stream of its own ("gpu0", ...), so that
  // libraries have their workspaces there and PyTorch has memory for it, then a
  // fourth time to capture it, and waits for the device. Throws what `work`
  // throws, and std::runtime_error with the driver's words.
  CudaGraph(const std::string& device, const std::function<void()>& work);
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  // Starts it on its stream, after what was launched there before.
  void Launch();

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

// Why a CPU has none.
inline constexpr char kNoGraphsOnCpu[] =
    "A CUDA graph is a list of work for a GPU.";

}  // namespace traza

#endif  // WORKLOADS_CUDA_GRAPH_H_
