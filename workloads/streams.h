// SPDX-License-Identifier: Apache-2.0
#ifndef WORKLOADS_STREAMS_H_
#define WORKLOADS_STREAMS_H_

#include <memory>
#include <string>

namespace traza {

// A stream of a GPU beside the default one: work there does not wait for work
// on others. Through the interface that PyTorch's CUDA half registers at run
// time, so that a program that uses this needs no CUDA library.
//
// Everything throws what PyTorch throws. Thread-compatible.
class SideStream {
 public:
  // Of "gpu0", ..., which becomes the current device of the thread: calls of
  // the driver need that.
  explicit SideStream(const std::string& device);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  // What comes here starts after what the thread's current stream has now.
  void WaitForCurrent();
  // What comes to the thread's current stream starts after what is here now.
  void MakeCurrentWait();

  // The driver's CUstream.
  void* native_handle() const;

  // Makes work of this thread go to the stream, for its lifetime.
  class Use {
   public:
    explicit Use(const SideStream& stream);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    struct Before;
    const std::unique_ptr<const Before> before_;
  };

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

// Waits until the device has done all its work.
void WaitForDevice(const std::string& device);

}  // namespace traza

#endif  // WORKLOADS_STREAMS_H_
