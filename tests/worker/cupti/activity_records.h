// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WORKER_CUPTI_ACTIVITY_RECORDS_H_
#define TESTS_WORKER_CUPTI_ACTIVITY_RECORDS_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "cupti.h"

namespace traza {

// A buffer as CUPTI fills it: one record behind the other.
class ActivityRecords {
 public:
  template <typename Record>
  ActivityRecords& Add(CUpti_ActivityKind kind, Record record) {
    record.kind = kind;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof record);
    return *this;
  }

  ActivityRecords& Add(const CUpti_ActivityKernel10& kernel) {
    return Add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kernel);
  }
  ActivityRecords& Add(const CUpti_ActivityMemcpy6& copy) {
    return Add(CUPTI_ACTIVITY_KIND_MEMCPY, copy);
  }
  ActivityRecords& Add(const CUpti_ActivityMemcpyPtoP4& copy) {
    return Add(CUPTI_ACTIVITY_KIND_MEMCPY2, copy);
  }
  ActivityRecords& Add(const CUpti_ActivityMemset4& fill) {
    return Add(CUPTI_ACTIVITY_KIND_MEMSET, fill);
  }
  ActivityRecords& Add(const CUpti_ActivityOverhead3& overhead) {
    return Add(CUPTI_ACTIVITY_KIND_OVERHEAD, overhead);
  }

  uint8_t* data() { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
};

// The GEMM of docs/definitions.md B8 as an H200 records it.
inline CUpti_ActivityKernel10 GemmRecord() {
  CUpti_ActivityKernel10 kernel = {};
  kernel.name = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
  kernel.start = 1000;
  kernel.end = 5000;
  kernel.contextId = 1;
  kernel.streamId = 7;
  kernel.correlationId = 42;
  kernel.gridX = 66;
  kernel.gridY = 2;
  kernel.gridZ = 1;
  kernel.blockX = 384;
  kernel.blockY = 1;
  kernel.blockZ = 1;
  kernel.registersPerThread = 168;
  kernel.dynamicSharedMemory = 213188;
  return kernel;
}

}  // namespace traza

#endif  // TESTS_WORKER_CUPTI_ACTIVITY_RECORDS_H_
