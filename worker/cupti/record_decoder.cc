// SPDX-License-Identifier: Apache-2.0
#include "worker/cupti/record_decoder.h"

#include <cxxabi.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "trace/analysis/occupancy.h"

namespace traza {
namespace {

// "void kernel<float>(...)" of "_Z6kernelIf..."; other names as they are.
std::string Demangle(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

absl::string_view MemoryName(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
      return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
      return "Managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "Device Static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "Managed Static";
    default:
      return "Unknown";
  }
}

// As it is spelled in names, "HtoD"; in the column it is lower case.
absl::string_view CopyName(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "HtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "AtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return "AtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return "AtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "DtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    default:
      return "Unknown";
  }
}

// What every record of device work has. Graph ids are 0 outside of graphs.
template <typename Activity>
RawDeviceEvent DeviceEvent(EventKind kind, const Activity& activity) {
  RawDeviceEvent event = {.kind = kind,
                          .start_ns = static_cast<int64_t>(activity.start),
                          .end_ns = static_cast<int64_t>(activity.end),
                          .device = static_cast<int32_t>(activity.deviceId),
                          .context = static_cast<int32_t>(activity.contextId),
                          .stream = static_cast<int32_t>(activity.streamId),
                          .correlation = activity.correlationId};
  if (activity.graphNodeId != 0) {
    event.graph = activity.graphId;
    event.graph_node = static_cast<int64_t>(activity.graphNodeId);
  }
  return event;
}

}  // namespace

absl::string_view OverheadName(CUpti_ActivityOverheadKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "Driver Compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "Buffer Flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "Instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "Resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "Runtime Triggered Module Loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "Lazy Function Loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "Command Buffer Full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "Activity Buffer Request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "UVM Activity Init";
    default:
      return "Unknown Overhead";
  }
}

bool IsTracersOwn(CUpti_ActivityOverheadKind kind) {
  return kind != CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER &&
         kind != CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING &&
         kind != CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING &&
         kind != CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
}

void RecordDecoder::Decode(uint8_t* data, size_t bytes) {
  CUpti_Activity* record = nullptr;
  CUptiResult result;
  while ((result = cuptiActivityGetNextRecord(data, bytes, &record)) ==
         CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        AddKernel(*reinterpret_cast<CUpti_ActivityKernel10*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        AddCopy(*reinterpret_cast<CUpti_ActivityMemcpy6*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        AddPeerCopy(*reinterpret_cast<CUpti_ActivityMemcpyPtoP4*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        AddFill(*reinterpret_cast<CUpti_ActivityMemset4*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_OVERHEAD: {
        auto* const overhead =
            reinterpret_cast<CUpti_ActivityOverhead3*>(record);
        AddOverhead(*overhead);
        std::free(overhead->overheadData);  // ours, says CUPTI
        overhead->overheadData = nullptr;
        break;
      }
      default:  // no other kind is enabled
        break;
    }
  }
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) ++truncated_buffers_;
}

int32_t RecordDecoder::KernelName(const char* mangled) {
  if (mangled == nullptr) return records_.names.Intern("");
  const auto [found, added] = kernel_names_.try_emplace(mangled, 0);
  if (added) found->second = records_.names.Intern(Demangle(mangled));
  return found->second;
}

double RecordDecoder::OccupancyOf(const CUpti_ActivityKernel10& kernel) {
  if (!limits_.has_value()) return Column<double>::Null();
  const Shape shape = {
      int64_t{kernel.blockX} * kernel.blockY * kernel.blockZ,
      kernel.registersPerThread,
      kernel.staticSharedMemory,
      kernel.dynamicSharedMemory,
      int64_t{kernel.clusterX} * kernel.clusterY * kernel.clusterZ,
      kernel.maxActiveClusters};
  const auto [found, added] = occupancy_.try_emplace(shape, 0);
  if (added) {
    LaunchShape launch = {.block_threads = shape[0],
                          .registers = shape[1],
                          .shared_static = shape[2],
                          .shared_dynamic = shape[3]};
    if (shape[4] > 1) {
      launch.cluster_blocks = shape[4];
      if (shape[5] > 0) launch.max_active_clusters = shape[5];
    }
    const std::optional<Occupancy> occupancy =
        TheoreticalOccupancy(*limits_, launch);
    found->second = occupancy ? occupancy->fraction : Column<double>::Null();
  }
  return found->second;
}

void RecordDecoder::AddKernel(const CUpti_ActivityKernel10& kernel) {
  RawDeviceEvent event = DeviceEvent(EventKind::kKernel, kernel);
  event.name = KernelName(kernel.name);
  event.grid[0] = kernel.gridX;
  event.grid[1] = kernel.gridY;
  event.grid[2] = kernel.gridZ;
  event.block[0] = kernel.blockX;
  event.block[1] = kernel.blockY;
  event.block[2] = kernel.blockZ;
  event.registers = kernel.registersPerThread;
  event.shared_static = kernel.staticSharedMemory;
  event.shared_dynamic = kernel.dynamicSharedMemory;
  event.local_bytes = static_cast<int32_t>(kernel.localMemoryPerThread);
  event.occupancy = OccupancyOf(kernel);
  records_.device.push_back(event);
}

void RecordDecoder::AddCopy(const CUpti_ActivityMemcpy6& copy) {
  RawDeviceEvent event = DeviceEvent(EventKind::kCopy, copy);
  const absl::string_view kind = CopyName(copy.copyKind);
  event.name = records_.names.Intern(
      absl::StrCat("Memcpy ", kind, " (", MemoryName(copy.srcKind), " -> ",
                   MemoryName(copy.dstKind), ")"));
  event.copy_kind = records_.names.Intern(absl::AsciiStrToLower(kind));
  event.bytes = static_cast<int64_t>(copy.bytes);
  records_.device.push_back(event);
}

void RecordDecoder::AddPeerCopy(const CUpti_ActivityMemcpyPtoP4& copy) {
  RawDeviceEvent event = DeviceEvent(EventKind::kCopy, copy);
  event.name = records_.names.Intern(
      absl::StrCat("Memcpy PtoP (", MemoryName(copy.srcKind), " -> ",
                   MemoryName(copy.dstKind), ")"));
  event.copy_kind = records_.names.Intern("ptop");
  event.bytes = static_cast<int64_t>(copy.bytes);
  records_.device.push_back(event);
}

void RecordDecoder::AddFill(const CUpti_ActivityMemset4& fill) {
  RawDeviceEvent event = DeviceEvent(EventKind::kFill, fill);
  event.name = records_.names.Intern(
      absl::StrCat("Memset (", MemoryName(fill.memoryKind), ")"));
  event.bytes = static_cast<int64_t>(fill.bytes);
  records_.device.push_back(event);
}

void RecordDecoder::AddOverhead(const CUpti_ActivityOverhead3& overhead) {
  RawHostEvent event = {
      .kind = EventKind::kOverhead,
      .name = records_.names.Intern(OverheadName(overhead.overheadKind)),
      .start_ns = static_cast<int64_t>(overhead.start),
      .end_ns = static_cast<int64_t>(overhead.end),
      .process = static_cast<int32_t>(getpid()),
      .thread = kNull<int64_t>};
  if (overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) {
    event.process = static_cast<int32_t>(overhead.objectId.pt.processId);
    event.thread = overhead.objectId.pt.threadId;
  }
  records_.host.push_back(event);
  if (IsTracersOwn(overhead.overheadKind)) {
    own_time_.push_back({event.start_ns, event.end_ns});
  }
}

}  // namespace traza
