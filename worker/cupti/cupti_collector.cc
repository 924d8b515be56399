// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/cupti_collector.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "worker/cupti/status.h"

namespace traza {
namespace {

// The version whose records and settings this file knows.
constexpr uint32_t kCuptiVersion = 130001;

// What CUPTI keeps on the device: room for 8 x some 250,000 records before it
// has to make more in the launching thread.
constexpr size_t kDeviceBufferBytes = size_t{8} << 20;
constexpr size_t kDeviceBuffers = 8;

// Host buffers: those that are there before the job is known, and the largest
// ones. A window should fit into one: handing over a full one disturbs the
// step that runs (290 us instead of 32, measured on an H200).
constexpr size_t kFirstBufferBytes = size_t{8} << 20;
constexpr size_t kMaxBufferBytes = size_t{128} << 20;
constexpr int kSpareBuffers = 3;  // one for each of a few threads

// The largest record that is common.
constexpr int64_t kRecordBytes = sizeof(CUpti_ActivityKernel10);
constexpr double kRecordMargin = 1.25;
constexpr size_t kSpareRecordBytes = size_t{2} << 20;  // priming, libraries

// Calls beside those that launch predicted work: waits, allocations, fills of
// libraries, priming steps.
constexpr int64_t kCallsPerRecord = 2;
constexpr int64_t kSpareCalls = 1 << 16;

// Never CUPTI_ACTIVITY_KIND_KERNEL: it makes kernels run one after the other.
constexpr std::array kKinds = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_OVERHEAD};

// CUPTI's buffer callbacks have no argument of ours. Set while a collector
// lives; they stay registered after it.
RecordBuffers* buffers_of_callbacks = nullptr;

void CUPTIAPI OnRequest(uint8_t** buffer, size_t* size, size_t* max_records) {
  RecordBuffers* const buffers = buffers_of_callbacks;
  *buffer = buffers == nullptr ? nullptr : buffers->Take();
  *size = *buffer == nullptr ? 0 : buffers->bytes();
  *max_records = 0;  // as many as fit
}

void CUPTIAPI OnComplete(CUcontext /*context*/, uint32_t /*stream*/,
                         uint8_t* buffer, size_t /*size*/, size_t valid) {
  RecordBuffers* const buffers = buffers_of_callbacks;
  if (buffer != nullptr && buffers != nullptr) buffers->Complete(buffer, valid);
}

// The functions return a CUresult: 0 is success.
void CUPTIAPI OnCall(void* log, CUpti_CallbackDomain /*domain*/,
                     CUpti_CallbackId id, const void* data) {
  const auto* const call = static_cast<const CUpti_CallbackData*>(data);
  auto* const calls = static_cast<CallLog*>(log);
  if (call->callbackSite == CUPTI_API_ENTER) {
    *call->correlationData = calls->Enter(id, call->correlationId);
  } else {
    const auto* const result =
        static_cast<const int*>(call->functionReturnValue);
    calls->Exit(*call->correlationData, result != nullptr && *result != 0);
  }
}

size_t RoundUp(double bytes) {
  return (static_cast<size_t>(bytes) / (size_t{1} << 20) + 1) << 20;
}

template <typename T>
absl::Status SetAttribute(CUpti_ActivityAttribute attribute, T value) {
  size_t size = sizeof value;
  return CuptiStatus(cuptiActivitySetAttribute(attribute, &size, &value),
                     "cuptiActivitySetAttribute");
}

}  // namespace

CuptiCollector::CuptiCollector(const WindowClock& clock,
                               std::optional<MultiprocessorLimits> limits)
    : calls_(clock), decoder_(limits) {
  TRAZA_CHECK(buffers_of_callbacks == nullptr);
  buffers_of_callbacks = &buffers_;
  attached_ = Attach();
}

CuptiCollector::~CuptiCollector() {
  StopDecoding();
  if (subscriber_ != nullptr) {
    EnableRecords(false).IgnoreError();
    cuptiUnsubscribe(subscriber_);
  }
  buffers_of_callbacks = nullptr;
}

CollectorCapabilities CuptiCollector::Capabilities() const {
  return {.name = "cupti",
          .device_records = attached_.ok(),
          .note = std::string(attached_.message())};
}

// ---- Attaching

absl::Status CuptiCollector::Attach() {
  uint32_t version = 0;
  RETURN_IF_ERROR(CuptiStatus(cuptiGetVersion(&version), "cuptiGetVersion"));
  if (version != kCuptiVersion) {
    return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                        Reason::kTracingUnavailable)
        .Build(absl::StrCat("CUPTI has version ", version,
                            "; this worker knows ", kCuptiVersion,
                            ", that of CUDA 13.0."));
  }
  // Kernel thread ids, which operators have too.
  RETURN_IF_ERROR(
      CuptiStatus(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM),
                  "cuptiSetThreadIdType"));
  RETURN_IF_ERROR(Subscribe());
  // Otherwise CUPTI clears each buffer in the launching thread.
  RETURN_IF_ERROR(
      SetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, uint8_t{1}));
  RETURN_IF_ERROR(
      SetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, kDeviceBufferBytes));
  RETURN_IF_ERROR(SetAttribute(
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, kDeviceBuffers));
  RETURN_IF_ERROR(buffers_.Reserve(kFirstBufferBytes, kSpareBuffers));
  return CuptiStatus(cuptiActivityRegisterCallbacks(OnRequest, OnComplete),
                     "cuptiActivityRegisterCallbacks");
}

absl::Status CuptiCollector::Subscribe() {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 1] = {};
  CUpti_SubscriberParams params = {};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "traza";
  params.oldSubscriberName = holder;
  params.oldSubscriberSize = CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN;
  const CUptiResult result =
      cuptiSubscribe_v2(&subscriber_, OnCall, &calls_, &params);
  if (result == CUPTI_SUCCESS) return absl::OkStatus();
  subscriber_ = nullptr;
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return CuptiStatus(result, "cuptiSubscribe_v2");
  }
  const std::string name = holder[0] == '\0' ? "one without a name" : holder;
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kTracerBusy)
      .With("holder", name)
      .Build(absl::StrCat("Another tool traces this process: ", name, "."));
}

absl::Status CuptiCollector::Prepare(const CollectorOptions& options) {
  if (options.depth == Depth::kTiming) return absl::OkStatus();
  RETURN_IF_ERROR(attached_);
  dump_path_ = options.dump;
  with_calls_ = options.depth >= Depth::kLaunches;
  const double needed = static_cast<double>(options.device_records) *
                            static_cast<double>(kRecordBytes) * kRecordMargin +
                        static_cast<double>(kSpareRecordBytes);
  const size_t bytes =
      RoundUp(std::min(needed, static_cast<double>(kMaxBufferBytes)));
  const double count = needed / static_cast<double>(bytes) + kSpareBuffers;
  RETURN_IF_ERROR(buffers_.Reserve(
      bytes,
      static_cast<int>(std::min<double>(count, RecordBuffers::kMaxBuffers))));
  if (!with_calls_) return absl::OkStatus();
  return calls_.Reserve(options.device_records * kCallsPerRecord + kSpareCalls);
}

// ---- Windows

absl::Status CuptiCollector::EnableRecords(bool enable) {
  for (const CUpti_ActivityKind kind : kKinds) {
    RETURN_IF_ERROR(CuptiStatus(
        enable ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind),
        enable ? "cuptiActivityEnable" : "cuptiActivityDisable"));
  }
  return absl::OkStatus();
}

absl::Status CuptiCollector::EnableCalls(bool enable) {
  if (!with_calls_) return absl::OkStatus();
  for (const TracedCall& call : calls_.traced()) {
    RETURN_IF_ERROR(
        CuptiStatus(cuptiEnableCallback(enable ? 1 : 0, subscriber_,
                                        CUPTI_CB_DOMAIN_DRIVER_API, call.id),
                    "cuptiEnableCallback"));
  }
  return absl::OkStatus();
}

absl::Status CuptiCollector::Arm() {
  first_device_ = decoder_.records().device.size();
  first_host_ = decoder_.records().host.size();
  first_own_time_ = decoder_.own_time().size();
  decoding_ = std::thread([this] { DecodeWhenLow(); });
  RETURN_IF_ERROR(EnableRecords(true));
  return EnableCalls(true);
}

absl::Status CuptiCollector::OpenWindow() {
  CheckClock();
  buffers_.ResetCounts();
  calls_.Rewind();
  opened_ns_ = RealtimeNs();
  return absl::OkStatus();
}

absl::Status CuptiCollector::CloseWindow() {
  closed_ns_ = RealtimeNs();
  requests_in_windows_ += buffers_.requests();
  misses_ += buffers_.misses();
  CheckClock();
  return absl::OkStatus();
}

absl::Status CuptiCollector::Disarm() {
  RETURN_IF_ERROR(EnableCalls(false));
  RETURN_IF_ERROR(EnableRecords(false));
  RETURN_IF_ERROR(
      CuptiStatus(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
                  "cuptiActivityFlushAll"));
  StopDecoding();
  while (DecodeNext()) {
  }
  DropWhatCameBeforeTheWindow();
  AddOwnTime();
  dropped_ += calls_.Drain(&calls_of_windows_);
  size_t dropped = 0;
  RETURN_IF_ERROR(
      CuptiStatus(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped),
                  "cuptiActivityGetNumDroppedRecords"));
  dropped_ += static_cast<int64_t>(dropped);
  return absl::OkStatus();
}

void CuptiCollector::CheckClock() {
  const int64_t before = RealtimeNs();
  uint64_t stamp = 0;
  if (cuptiGetTimestamp(&stamp) != CUPTI_SUCCESS) return;
  const int64_t after = RealtimeNs();
  const auto at = static_cast<int64_t>(stamp);
  clock_error_ns_ = std::max({clock_error_ns_, before - at, at - after});
}

// ---- Decoding

void CuptiCollector::DecodeWhenLow() {
  while (buffers_.AwaitLow()) DecodeNext();
}

bool CuptiCollector::DecodeNext() {
  const std::optional<RecordBuffers::Filled> filled = buffers_.Next();
  if (!filled.has_value()) return false;
  if (!dump_path_.empty()) dump_.Add(filled->data, filled->bytes);
  decoder_.Decode(filled->data, filled->bytes);
  buffers_.Return(*filled);
  return true;
}

void CuptiCollector::StopDecoding() {
  if (!decoding_.joinable()) return;
  buffers_.Wake();
  decoding_.join();
}

// The device was idle when the window opened: whatever ended before it is of a
// priming step. Device records without times stay; they are counted.
void CuptiCollector::DropWhatCameBeforeTheWindow() {
  const auto before = [this](const RawDeviceEvent& event) {
    return event.end_ns != 0 && event.end_ns < opened_ns_;
  };
  RawRecords& records = decoder_.records();
  records.device.erase(std::remove_if(records.device.begin() +
                                          static_cast<ptrdiff_t>(first_device_),
                                      records.device.end(), before),
                       records.device.end());
  // Overhead after the window is our own stopping; overhead without times has
  // no place in it.
  records.host.erase(
      std::remove_if(records.host.begin() + static_cast<ptrdiff_t>(first_host_),
                     records.host.end(),
                     [this](const RawHostEvent& event) {
                       return event.end_ns < opened_ns_ ||
                              event.start_ns > closed_ns_;
                     }),
      records.host.end());
}

void CuptiCollector::AddOwnTime() {
  const auto& own = decoder_.own_time();
  for (size_t i = first_own_time_; i < own.size(); ++i) {
    own_ns_in_windows_ +=
        std::max<int64_t>(0, std::min(own[i].end_ns, closed_ns_) -
                                 std::max(own[i].start_ns, opened_ns_));
  }
}

// ---- Results

absl::Status CuptiCollector::Drain(RawRecords* records) {
  if (!dump_path_.empty()) {
    dump_.SetWindow(opened_ns_, closed_ns_, calls_of_windows_);
    RETURN_IF_ERROR(dump_.Write(dump_path_));
  }
  for (RawRecords* const part : {&decoder_.records(), &calls_of_windows_}) {
    std::vector<int32_t> names;
    for (int32_t id = 0; id < part->names.size(); ++id) {
      names.push_back(records->names.Intern(part->names.at(id)));
    }
    records->host.reserve(records->host.size() + part->host.size());
    for (RawHostEvent& event : part->host) {
      event.name = names[event.name];
      records->host.push_back(event);
    }
    records->device.reserve(records->device.size() + part->device.size());
    for (RawDeviceEvent& event : part->device) {
      event.name = names[event.name];
      if (event.copy_kind != kNull<int32_t>) {
        event.copy_kind = names[event.copy_kind];
      }
      records->device.push_back(event);
    }
    part->host.clear();
    part->device.clear();
  }
  return absl::OkStatus();
}

void CuptiCollector::Losses(Completeness* completeness) const {
  completeness->dropped = dropped_;
  completeness->truncated_buffers = decoder_.truncated_buffers();
  completeness->pool_misses = misses_;
  completeness->buffer_requests_in_window = requests_in_windows_;
  completeness->overhead_ns_in_window = own_ns_in_windows_;
  // Reading a clock twice takes less than that.
  constexpr int64_t kTolerableNs = 1000;
  const int64_t step = std::abs(completeness->clock_step_ns.value_or(0));
  if (clock_error_ns_ > std::max(kTolerableNs, step)) {
    completeness->clock_step_ns = clock_error_ns_;
  }
}

}  // namespace traza
