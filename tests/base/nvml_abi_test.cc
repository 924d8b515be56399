// SPDX-License-Identifier: Apache-2.0
#include "base/nvml_abi.h"

#include <cstddef>

#include "gtest/gtest.h"
#include "nvml.h"

// Ours on the left, those of NVIDIA's header on the right.
namespace traza {
namespace {

TEST(NvmlAbi, ResultsHaveTheirNumbers) {
  EXPECT_EQ(nvml::kSuccess, NVML_SUCCESS);
  EXPECT_EQ(nvml::kUninitialized, NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvml::kInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml::kNotSupported, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvml::kNoPermission, NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(nvml::kNotFound, NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvml::kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvml::kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
  EXPECT_EQ(nvml::kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
  EXPECT_EQ(nvml::kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(nvml::kResetRequired, NVML_ERROR_RESET_REQUIRED);
  EXPECT_EQ(nvml::kVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  EXPECT_EQ(nvml::kNoData, NVML_ERROR_NO_DATA);
  EXPECT_EQ(nvml::kArgumentVersionMismatch,
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  EXPECT_EQ(nvml::kDeprecated, NVML_ERROR_DEPRECATED);
  EXPECT_EQ(nvml::kUnknown, NVML_ERROR_UNKNOWN);
}

TEST(NvmlAbi, ArgumentsHaveTheirNumbers) {
  EXPECT_EQ(nvml::kClockSm, NVML_CLOCK_SM);
  EXPECT_EQ(nvml::kClockMemory, NVML_CLOCK_MEM);
  EXPECT_EQ(nvml::kTemperatureGpu, NVML_TEMPERATURE_GPU);
  EXPECT_EQ(nvml::kTemperatureVersion, nvmlTemperature_v1);
  EXPECT_EQ(nvml::kMemoryVersion, nvmlMemory_v2);
  EXPECT_EQ(nvml::kNotAvailable,
            static_cast<uint64_t>(NVML_VALUE_NOT_AVAILABLE));
  EXPECT_EQ(nvml::kFieldSwPowerCapNs,
            unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP});
  EXPECT_EQ(nvml::kFieldSyncBoostNs,
            unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST});
  EXPECT_EQ(nvml::kFieldSwThermalNs,
            unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN});
  EXPECT_EQ(nvml::kFieldHwThermalNs,
            unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN});
  EXPECT_EQ(nvml::kFieldHwPowerBrakeNs,
            unsigned{NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN});
  EXPECT_EQ(nvml::kFieldPowerInstant, unsigned{NVML_FI_DEV_POWER_INSTANT});
}

TEST(NvmlAbi, ReasonsHaveTheirBits) {
  EXPECT_EQ(nvml::kReasonGpuIdle, uint64_t{nvmlClocksEventReasonGpuIdle});
  EXPECT_EQ(nvml::kReasonApplicationsClocks,
            uint64_t{nvmlClocksEventReasonApplicationsClocksSetting});
  EXPECT_EQ(nvml::kReasonSwPowerCap, uint64_t{nvmlClocksEventReasonSwPowerCap});
  EXPECT_EQ(nvml::kReasonHwSlowdown,
            uint64_t{nvmlClocksThrottleReasonHwSlowdown});
  EXPECT_EQ(nvml::kReasonSyncBoost, uint64_t{nvmlClocksEventReasonSyncBoost});
  EXPECT_EQ(nvml::kReasonSwThermal,
            uint64_t{nvmlClocksEventReasonSwThermalSlowdown});
  EXPECT_EQ(nvml::kReasonHwThermal,
            uint64_t{nvmlClocksThrottleReasonHwThermalSlowdown});
  EXPECT_EQ(nvml::kReasonHwPowerBrake,
            uint64_t{nvmlClocksThrottleReasonHwPowerBrakeSlowdown});
  EXPECT_EQ(nvml::kReasonDisplayClock,
            uint64_t{nvmlClocksEventReasonDisplayClockSetting});
}

TEST(NvmlAbi, StructuresHaveTheirLayout) {
  EXPECT_EQ(sizeof(nvml::Return), sizeof(nvmlReturn_t));
  EXPECT_EQ(sizeof(nvml::Device), sizeof(nvmlDevice_t));
  EXPECT_EQ(sizeof(int), sizeof(nvmlClockType_t));

  EXPECT_EQ(sizeof(nvml::Temperature), sizeof(nvmlTemperature_t));
  EXPECT_EQ(offsetof(nvml::Temperature, celsius),
            offsetof(nvmlTemperature_t, temperature));

  EXPECT_EQ(sizeof(nvml::Memory), sizeof(nvmlMemory_v2_t));
  EXPECT_EQ(offsetof(nvml::Memory, total), offsetof(nvmlMemory_v2_t, total));
  EXPECT_EQ(offsetof(nvml::Memory, used), offsetof(nvmlMemory_v2_t, used));

  EXPECT_EQ(sizeof(nvml::Utilization), sizeof(nvmlUtilization_t));
  EXPECT_EQ(offsetof(nvml::Utilization, gpu), offsetof(nvmlUtilization_t, gpu));

  EXPECT_EQ(sizeof(nvml::Process), sizeof(nvmlProcessInfo_t));
  EXPECT_EQ(offsetof(nvml::Process, pid), offsetof(nvmlProcessInfo_t, pid));
  EXPECT_EQ(offsetof(nvml::Process, used_bytes),
            offsetof(nvmlProcessInfo_t, usedGpuMemory));

  EXPECT_EQ(sizeof(nvml::FieldValue), sizeof(nvmlFieldValue_t));
  EXPECT_EQ(offsetof(nvml::FieldValue, field),
            offsetof(nvmlFieldValue_t, fieldId));
  EXPECT_EQ(offsetof(nvml::FieldValue, result),
            offsetof(nvmlFieldValue_t, nvmlReturn));
  EXPECT_EQ(offsetof(nvml::FieldValue, value),
            offsetof(nvmlFieldValue_t, value));
}

}  // namespace
}  // namespace traza
