# SPDX-License-Identifier: Apache-2.0
# traza::cupti, traza::cuda_headers and traza::nvml from NVIDIA's wheels.
# All of it has to come from the installation that torch itself loads, or two
# libcupti compete; so the folder beside torch goes first. Sets
# TRAZA_HAVE_CUDA, which adds or removes files, never an #ifdef.

set(TRAZA_TORCH_DIR "" CACHE PATH
  "The torch package folder (.../site-packages/torch); else .deps/site/torch")
set(traza_torch_dir "${PROJECT_SOURCE_DIR}/.deps/site/torch")
if(TRAZA_TORCH_DIR)
  set(traza_torch_dir "${TRAZA_TORCH_DIR}")
endif()
cmake_path(GET traza_torch_dir PARENT_PATH traza_site)
set(TRAZA_CUDA_LIBRARY_DIR "${traza_site}/nvidia/cu13/lib")

set(TRAZA_HAVE_CUDA OFF)
if(TRAZA_WITH_CUDA STREQUAL "OFF")
  return()
endif()

# NO_CACHE: another TRAZA_TORCH_DIR has to bring another CUPTI with it.
find_path(TRAZA_CUPTI_INCLUDE_DIR cupti.h NO_CACHE NO_DEFAULT_PATH
  PATHS "${traza_site}/nvidia/cu13/include"
        "${PROJECT_SOURCE_DIR}/.deps/site/nvidia/cu13/include")
find_file(TRAZA_CUPTI_LIBRARY libcupti.so.13 NO_CACHE NO_DEFAULT_PATH
  PATHS "${TRAZA_CUDA_LIBRARY_DIR}"
        "${PROJECT_SOURCE_DIR}/.deps/site/nvidia/cu13/lib")

find_file(TRAZA_CUDART_LIBRARY libcudart.so.13 NO_CACHE NO_DEFAULT_PATH
  PATHS "${TRAZA_CUDA_LIBRARY_DIR}"
        "${PROJECT_SOURCE_DIR}/.deps/site/nvidia/cu13/lib")

if(TRAZA_CUPTI_INCLUDE_DIR AND TRAZA_CUPTI_LIBRARY AND TRAZA_CUDART_LIBRARY)
  set(TRAZA_HAVE_CUDA ON)
  # An existing torch may lack the packages that only compilers need (crt,
  # nvml): what is missing there comes from .deps/site.
  set(traza_cuda_include_dirs "${TRAZA_CUPTI_INCLUDE_DIR}")
  if(EXISTS "${PROJECT_SOURCE_DIR}/.deps/site/nvidia/cu13/include")
    list(APPEND traza_cuda_include_dirs
      "${PROJECT_SOURCE_DIR}/.deps/site/nvidia/cu13/include")
    list(REMOVE_DUPLICATES traza_cuda_include_dirs)
  endif()
  add_library(traza::cuda_headers INTERFACE IMPORTED GLOBAL)
  set_target_properties(traza::cuda_headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${traza_cuda_include_dirs}")
  add_library(traza::cupti SHARED IMPORTED GLOBAL)
  set_target_properties(traza::cupti PROPERTIES
    IMPORTED_LOCATION "${TRAZA_CUPTI_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${traza_cuda_include_dirs}")
  # For GPU tests: the runtime that PyTorch itself loads.
  add_library(traza::cudart SHARED IMPORTED GLOBAL)
  set_target_properties(traza::cudart PROPERTIES
    IMPORTED_LOCATION "${TRAZA_CUDART_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${traza_cuda_include_dirs}")
  # NVML is opened at run time: only its header is needed.
  add_library(traza::nvml INTERFACE IMPORTED GLOBAL)
  target_link_libraries(traza::nvml INTERFACE
    traza::cuda_headers ${CMAKE_DL_LIBS})
elseif(TRAZA_WITH_CUDA STREQUAL "ON")
  message(FATAL_ERROR "TRAZA_WITH_CUDA=ON, but no CUPTI beside "
    "${traza_torch_dir}: run scripts/setup or set TRAZA_TORCH_DIR")
endif()
message(STATUS "CUPTI: ${TRAZA_CUPTI_LIBRARY}")
