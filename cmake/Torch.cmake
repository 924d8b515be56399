# SPDX-License-Identifier: Apache-2.0
# traza::torch (libtorch_cpu, libc10) and traza::kineto (headers) from the
# torch wheel. Not find_package(Torch): that enables the CUDA language, runs
# nvcc and misses half of its own libraries. Sets TRAZA_HAVE_TORCH.
#
# libtorch_cuda is not here: the worker opens it when a driver is present.

set(TRAZA_HAVE_TORCH OFF)
if(TRAZA_WITH_TORCH STREQUAL "OFF")
  return()
endif()

if(EXISTS "${traza_torch_dir}/lib/libtorch_cpu.so")
  set(TRAZA_HAVE_TORCH ON)
  add_library(traza::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(traza::c10 PROPERTIES
    IMPORTED_LOCATION "${traza_torch_dir}/lib/libc10.so"
    INTERFACE_INCLUDE_DIRECTORIES "${traza_torch_dir}/include")
  # The wheel also ships old protobuf headers: no generated protobuf code may
  # be compiled with this include folder.
  add_library(traza::torch SHARED IMPORTED GLOBAL)
  set_target_properties(traza::torch PROPERTIES
    IMPORTED_LOCATION "${traza_torch_dir}/lib/libtorch_cpu.so"
    INTERFACE_INCLUDE_DIRECTORIES
      "${traza_torch_dir}/include;${traza_torch_dir}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS AT_PER_OPERATOR_HEADERS
    INTERFACE_LINK_LIBRARIES traza::c10
    INTERFACE_LINK_OPTIONS
      "-Wl,--enable-new-dtags;-Wl,-rpath-link,${TRAZA_CUDA_LIBRARY_DIR}")
  add_library(traza::kineto INTERFACE IMPORTED GLOBAL)
  target_include_directories(traza::kineto INTERFACE
    "${traza_torch_dir}/include/kineto")
  message(STATUS "torch: ${traza_torch_dir}")
elseif(TRAZA_WITH_TORCH STREQUAL "ON")
  message(FATAL_ERROR "TRAZA_WITH_TORCH=ON, but no libtorch_cpu.so in "
    "${traza_torch_dir}/lib: run scripts/setup or set TRAZA_TORCH_DIR")
else()
  message(STATUS "torch: not found; the worker and workloads are left out")
endif()
