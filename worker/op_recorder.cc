// SPDX-License-Identifier: Apache-2.0
#include "worker/op_recorder.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/core/ivalue.h"
#include "ATen/record_function.h"
#include "absl/strings/ascii.h"
#include "c10/core/Allocator.h"
#include "c10/util/ThreadLocalDebugInfo.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "worker/alloc_log.h"
#include "worker/op_buffer.h"
#include "worker/tick_clock.h"

namespace traza {
namespace {

// An operator allocates its result and frees it; some need room to work in.
constexpr int64_t kAllocsPerRow = 3;

// PyTorch's callbacks are plain functions without an argument of ours, so what
// they use is global. Set while a recorder lives.
OpBuffer* buffer = nullptr;
TickClock ticks(false);  // what they stamp with; set before they run

// The start functions return no context, which would be a heap object an
// operator; the stack is OpBuffer's. The time stamp comes last at the start
// and first at the end, so that our own work falls into the enclosing row.
std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction& op) {
  OpRow* const row =
      buffer->Open(op.name(), op.scope() == at::RecordScope::USER_SCOPE);
  if (row != nullptr) row->start = ticks.Now();
  return nullptr;
}

void WriteTensor(const at::Tensor& tensor, InputWriter* writer) {
  if (!tensor.defined() || tensor.is_nested()) return writer->Other();
  const at::IntArrayRef sizes = tensor.sizes();
  writer->Tensor(static_cast<int>(tensor.scalar_type()), sizes.data(),
                 sizes.size());
}

void WriteInput(const c10::IValue& input, InputWriter* writer) {
  if (input.isTensor()) {
    WriteTensor(input.toTensor(), writer);
  } else if (input.isTensorList()) {
    const auto tensors = input.toListRef();
    writer->List(tensors.size());
    for (const c10::IValue& tensor : tensors) {
      WriteTensor(tensor.toTensor(), writer);
    }
  } else if (input.isScalar()) {
    writer->Scalar();
  } else {
    writer->Other();
  }
}

std::unique_ptr<at::ObserverContext> OnStartWithInputs(
    const at::RecordFunction& op) {
  OpRow* const row =
      buffer->Open(op.name(), op.scope() == at::RecordScope::USER_SCOPE);
  if (row == nullptr) return nullptr;
  const InputSpan room = buffer->InputRoom();
  if (room.begin != nullptr && !op.inputs().empty()) {
    InputWriter writer(room);
    for (const c10::IValue& input : op.inputs()) WriteInput(input, &writer);
    writer.End();
    if (writer.ok()) buffer->WroteInputs(row, writer.bytes());
  }
  row->start = ticks.Now();
  return nullptr;
}

void OnEnd(const at::RecordFunction& /*op*/, at::ObserverContext* /*context*/) {
  buffer->Close(ticks.Now());
}

at::CallbackHandle AddDisabled(at::RecordFunctionCallback callback) {
  const at::CallbackHandle handle =
      at::addGlobalCallback(std::move(callback.scopes(
          {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
           at::RecordScope::USER_SCOPE})));
  at::disableCallback(handle);
  return handle;
}

std::vector<std::string> DtypeNames() {
  std::vector<std::string> names;
  for (int i = 0; i < static_cast<int>(at::ScalarType::NumOptions); ++i) {
    names.push_back(
        absl::AsciiStrToLower(c10::toString(static_cast<at::ScalarType>(i))));
  }
  return names;
}

// What PyTorch's allocators call, on the thread that installed it and on those
// that work for it (autograd).
class AllocReporter final : public c10::MemoryReportingInfoBase {
 public:
  explicit AllocReporter(AllocLog& log) : log_(log) {}

  void reportMemoryUsage(void* /*address*/, int64_t bytes, size_t /*allocated*/,
                         size_t /*reserved*/, c10::Device device) override {
    log_.Add(bytes, device.is_cpu() ? kNull<int32_t> : device.index());
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  AllocLog& log_;
};

// Both callbacks are registered once, for the life of the process, and are
// disabled outside of windows: registering while other threads run operators
// is not allowed, and removing costs them a rebuild of their lists.
class TorchOpRecorder : public OpRecorder {
 public:
  explicit TorchOpRecorder(const WindowClock& clock)
      : clock_(clock),
        allocs_(clock),
        plain_(AddDisabled(at::RecordFunctionCallback(OnStart, OnEnd))),
        with_inputs_(
            AddDisabled(at::RecordFunctionCallback(OnStartWithInputs, OnEnd)
                            .needsInputs(true))) {
    TRAZA_CHECK(buffer == nullptr);
    ticks = clock.ticks();
    buffer = &buffer_;
  }

  ~TorchOpRecorder() override {
    Stop();
    at::removeCallback(plain_);
    at::removeCallback(with_inputs_);
    buffer = nullptr;
  }

  absl::Status Reserve(int64_t rows, bool shapes) override {
    shapes_ = shapes;
    if (shapes) RETURN_IF_ERROR(allocs_.Reserve(rows * kAllocsPerRow));
    return buffer_.Reserve(rows, shapes);
  }

  void Start() override {
    Rewind();
    if (shapes_) {
      reporting_.emplace(c10::DebugInfoKind::PROFILER_STATE,
                         std::make_shared<AllocReporter>(allocs_));
    }
    at::reenableCallback(shapes_ ? with_inputs_ : plain_);
    running_ = true;
  }

  void Rewind() override {
    buffer_.Rewind();
    allocs_.Rewind();
  }

  void Stop() override {
    if (!running_) return;
    at::disableCallback(shapes_ ? with_inputs_ : plain_);
    reporting_.reset();
    running_ = false;
    stop_ = ticks.Now();
  }

  void Drain(RawRecords* records, Completeness* completeness) override {
    buffer_.Drain(stop_, clock_.map(), DtypeNames(), records, completeness);
    if (!shapes_) return;
    *completeness->dropped_ops += allocs_.Drain(records);
  }

 private:
  const WindowClock& clock_;
  OpBuffer buffer_;
  AllocLog allocs_;
  std::optional<c10::DebugInfoGuard> reporting_;  // of the thread that started
  at::CallbackHandle plain_;
  at::CallbackHandle with_inputs_;
  bool shapes_ = false;
  bool running_ = false;
  int64_t stop_ = 0;  // in ticks
};

}  // namespace

std::unique_ptr<OpRecorder> MakeTorchOpRecorder(const WindowClock& clock) {
  return std::make_unique<TorchOpRecorder>(clock);
}

}  // namespace traza
