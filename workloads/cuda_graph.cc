// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_graph.h"

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"

#include "workloads/streams.h"

namespace traza {
namespace {

// The functions of the driver API (cuda.h) that are needed, by the names and
// numbers of its stable ABI.
using Result = int;  // 0 is success
// CU_STREAM_CAPTURE_MODE_RELAXED: what PyTorch asks of the driver while it
// computes must not end the capture.
constexpr int kRelaxed = 2;

struct Api {
  Result (*begin)(void* stream, int mode) = nullptr;
  Result (*end)(void* stream, void** graph) = nullptr;
  Result (*instantiate)(void** exec, void* graph, uint64_t flags) = nullptr;
  Result (*launch)(void* exec, void* stream) = nullptr;
  Result (*destroy_graph)(void* graph) = nullptr;
  Result (*destroy_exec)(void* exec) = nullptr;
  Result (*error_text)(Result result, const char** text) = nullptr;
};

template <typename Function>
void Load(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  if (*function == nullptr) {
    throw std::runtime_error(
        absl::StrCat("The NVIDIA driver has no ", name, "."));
  }
}

Api OpenApi() {
  // Never closed: PyTorch uses the same one.
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw std::runtime_error("There is no NVIDIA driver.");
  }
  Api api;
  Load(library, "cuStreamBeginCapture_v2", &api.begin);
  Load(library, "cuStreamEndCapture", &api.end);
  Load(library, "cuGraphInstantiateWithFlags", &api.instantiate);
  Load(library, "cuGraphLaunch", &api.launch);
  Load(library, "cuGraphDestroy", &api.destroy_graph);
  Load(library, "cuGraphExecDestroy", &api.destroy_exec);
  Load(library, "cuGetErrorString", &api.error_text);
  return api;
}

constexpr int kWarmups = 3;

}  // namespace

struct CudaGraph::Parts {
  explicit Parts(const std::string& device) : api(OpenApi()), stream(device) {}

  void Check(Result result, const char* what) const {
    if (result == 0) return;
    const char* text = nullptr;
    api.error_text(result, &text);
    throw std::runtime_error(
        absl::StrCat(what, ": ", text == nullptr ? "unknown error" : text, " (",
                     result, ")."));
  }

  void Capture(const std::function<void()>& work) {
    Check(api.begin(stream.native_handle(), kRelaxed),
          "The capture of a CUDA graph does not begin");
    try {
      work();
    } catch (...) {
      // A stream that captures would take no other work.
      api.end(stream.native_handle(), &graph);
      throw;
    }
    Check(api.end(stream.native_handle(), &graph),
          "The work cannot be captured as a CUDA graph");
    Check(api.instantiate(&exec, graph, 0),
          "The CUDA graph cannot be made executable");
  }

  const Api api;
  SideStream stream;
  void* graph = nullptr;
  void* exec = nullptr;
};

CudaGraph::CudaGraph(const std::string& device,
                     const std::function<void()>& work)
    : parts_(std::make_unique<Parts>(device)) {
  // Inputs were made on the stream that is current now.
  WaitForDevice(device);
  const SideStream::Use use(parts_->stream);
  for (int i = 0; i < kWarmups; ++i) work();
  WaitForDevice(device);
  parts_->Capture(work);
  WaitForDevice(device);
}

CudaGraph::~CudaGraph() {
  if (parts_->exec != nullptr) parts_->api.destroy_exec(parts_->exec);
  if (parts_->graph != nullptr) parts_->api.destroy_graph(parts_->graph);
}

void CudaGraph::Launch() {
  parts_->Check(
      parts_->api.launch(parts_->exec, parts_->stream.native_handle()),
      "The CUDA graph cannot be launched");
}

}  // namespace traza
