// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams.h"

#include "ATen/DeviceAccelerator.h"
#include "c10/core/Event.h"
#include "c10/core/Stream.h"
#include "c10/core/impl/VirtualGuardImpl.h"

#include "workloads/tensors.h"

namespace traza {
namespace {

c10::impl::VirtualGuardImpl Cuda() {
  return c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA);
}

c10::Stream NewStream(const c10::Device& device) {
  Cuda().setDevice(device);
  return Cuda().getStreamFromGlobalPool(device, /*isHighPriority=*/false);
}

}  // namespace

struct SideStream::Parts {
  explicit Parts(const c10::Device& device)
      : stream(NewStream(device)),
        ready(c10::DeviceType::CUDA),
        done(c10::DeviceType::CUDA) {}

  c10::Stream Current() const { return Cuda().getStream(stream.device()); }

  const c10::Stream stream;
  // Recorded again and again: who waits for one waits for what it was then.
  c10::Event ready, done;
};

SideStream::SideStream(const std::string& device)
    : parts_(std::make_unique<Parts>(DeviceOf(device))) {}

SideStream::~SideStream() = default;

void SideStream::WaitForCurrent() {
  parts_->ready.record(parts_->Current());
  parts_->ready.block(parts_->stream);
}

void SideStream::MakeCurrentWait() {
  parts_->done.record(parts_->stream);
  parts_->done.block(parts_->Current());
}

void* SideStream::native_handle() const {
  return parts_->stream.native_handle();
}

struct SideStream::Use::Before {
  c10::Stream stream;
};

SideStream::Use::Use(const SideStream& stream)
    : before_(std::make_unique<const Before>(
          Before{Cuda().exchangeStream(stream.parts_->stream)})) {}

SideStream::Use::~Use() { Cuda().exchangeStream(before_->stream); }

void WaitForDevice(const std::string& device) {
  at::accelerator::synchronizeDevice(DeviceOf(device).index());
}

}  // namespace traza
