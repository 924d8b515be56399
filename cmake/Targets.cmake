# SPDX-License-Identifier: Apache-2.0
# The shapes of our targets: library, binary, test, bench.

# Flags for every target of ours. Dependencies are IMPORTED, hence SYSTEM; so
# are generated headers, whose warnings are not ours either.
add_library(traza_flags INTERFACE)
target_compile_features(traza_flags INTERFACE cxx_std_20)
target_include_directories(traza_flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_include_directories(traza_flags SYSTEM INTERFACE
  "${PROJECT_BINARY_DIR}/gen")
target_compile_options(traza_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wextra-semi -Wundef
  # Designated initialisers leave out fields on purpose.
  -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wthread-safety-beta>)

# traza_rooms(a b/c ...) adds each of the folders that is there.
macro(traza_rooms)
  foreach(room ${ARGN})
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt")
      add_subdirectory(${room})
    endif()
  endforeach()
endmacro()

# traza_library(jobs SRCS a.cc a.h ... [DEPS ...] [PRIVATE_DEPS ...]) makes
# traza::jobs. Without a .cc file it is an interface library.
function(traza_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  set(sources ${ARG_SRCS})
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  if(sources)
    add_library(traza_${name} STATIC ${ARG_SRCS})
    target_link_libraries(traza_${name}
      PUBLIC ${ARG_DEPS} PRIVATE traza_flags ${ARG_PRIVATE_DEPS})
  else()
    add_library(traza_${name} INTERFACE)
    target_link_libraries(traza_${name} INTERFACE ${ARG_DEPS})
  endif()
  add_library(traza::${name} ALIAS traza_${name})
endfunction()

# traza_binary(trazad SRCS main.cc ... [DEPS ...]): a program in bin/ of the
# build folder. RUNPATH, not RPATH, so that LD_LIBRARY_PATH wins.
function(traza_binary name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE traza_flags ${ARG_DEPS})
  target_link_options(${name} PRIVATE -Wl,--enable-new-dtags)
endfunction()

set(TRAZA_TEST_LABELS "" CACHE STRING
  "Leave out the tests whose label does not match this expression")

# traza_test(job_manager_test SRCS ... [DEPS ...] [LABELS unit] [USES trazad]
# [TIMEOUT seconds]): one gtest binary in bin/tests/, default label unit.
# USES names the programs that the test starts: they are built with it, and
# lie in the parent of its own folder; without one of them (no torch, no
# worker) the test is left out.
function(traza_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SRCS;DEPS;LABELS;USES" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(TRAZA_TEST_LABELS AND NOT ARG_LABELS MATCHES "${TRAZA_TEST_LABELS}")
    return()
  endif()
  foreach(program ${ARG_USES})
    if(NOT TARGET ${program})
      message(STATUS "${name}: left out, it starts ${program}")
      return()
    endif()
  endforeach()
  list(LENGTH ARG_LABELS labels)
  if(labels GREATER 1)
    message(FATAL_ERROR "${name}: gtest_discover_tests carries one label only; "
      "name the dearest of unit, integration, slow, gpu")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  # Against hangs only: what takes a second takes ten under ThreadSanitizer.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 4")
  endif()
  add_executable(${name} ${ARG_SRCS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tests")
  target_link_libraries(${name} PRIVATE
    traza_flags ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_link_options(${name} PRIVATE -Wl,--enable-new-dtags)
  if(ARG_USES)
    add_dependencies(${name} ${ARG_USES})
  endif()
  if(ARG_LABELS STREQUAL "gpu")  # for the bundle
    set_property(GLOBAL APPEND PROPERTY TRAZA_GPU_TESTS ${name})
    set_property(TARGET ${name} PROPERTY TRAZA_TIMEOUT ${ARG_TIMEOUT})
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name}
    DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
               ENVIRONMENT "TRAZA_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endfunction()

# traza_bench(trace_file_bench SRCS ... [DEPS ...]): one google-benchmark
# binary in bin/bench/; never a test.
function(traza_bench name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/bench")
  target_link_libraries(${name} PRIVATE
    traza_flags ${ARG_DEPS} benchmark::benchmark)
  target_link_options(${name} PRIVATE -Wl,--enable-new-dtags)
endfunction()
