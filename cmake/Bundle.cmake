# SPDX-License-Identifier: Apache-2.0
# The target `bundle` makes traza-bundle.tar.gz in the build folder: programs,
# GPU tests, GPU benches and the libraries that a bare host lacks, without
# torch and CUDA. scripts/bundle.py packs what the manifest written here names.
# Included last: it asks which targets there are.

set(traza_bundle "${PROJECT_BINARY_DIR}/traza-bundle.tar.gz")
set(traza_bundle_manifest "${PROJECT_BINARY_DIR}/bundle.manifest")

# No bundle, and why.
function(traza_no_bundle reason)
  add_custom_target(bundle
    COMMAND "${CMAKE_COMMAND}" -E echo "bundle: ${reason}"
    COMMAND "${CMAKE_COMMAND}" -E false VERBATIM)
endfunction()

if(NOT TARGET traza-worker)
  traza_no_bundle("needs torch: run scripts/setup, then configure again")
  return()
elseif(NOT GTest_FOUND)
  traza_no_bundle("its GPU tests need GoogleTest: run scripts/setup --test, \
then configure again")
  return()
elseif(NOT TRAZA_BUILD_BENCH)
  traza_no_bundle("has benches: configure with TRAZA_BUILD_BENCH=ON")
  return()
endif()

set(traza_bundle_lines)    # of the manifest
set(traza_bundle_depends)

# traza_bundle_program(trazad bin) puts a target's program there. The run path
# that it will have is linked in, so that there is room for it.
function(traza_bundle_program target folder)
  set(up "lib/traza")
  cmake_path(RELATIVE_PATH up BASE_DIRECTORY "${folder}")
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH "$ORIGIN/${up}")
  list(APPEND traza_bundle_lines
    "program\t$<TARGET_FILE:${target}>\t${folder}/${target}")
  list(APPEND traza_bundle_depends ${target})
  return(PROPAGATE traza_bundle_lines traza_bundle_depends)
endfunction()

# traza_bundle_files(bin deploy/bundle/traza-env ...) copies files there.
function(traza_bundle_files folder)
  foreach(file ${ARGN})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    cmake_path(GET file FILENAME name)
    cmake_path(APPEND folder "${name}" OUTPUT_VARIABLE to)
    list(APPEND traza_bundle_lines "file\t${file}\t${to}")
    list(APPEND traza_bundle_depends "${file}")
  endforeach()
  return(PROPAGATE traza_bundle_lines traza_bundle_depends)
endfunction()

traza_bundle_program(traza bin)
traza_bundle_program(trazad bin)
traza_bundle_program(traza-local libexec/traza)
traza_bundle_program(traza-worker libexec/traza)
# Tests look for programs in the parent of their own folder.
list(APPEND traza_bundle_lines
  "link\t../libexec/traza/traza-worker\tbin/traza-worker")

# What bin/traza-gpu-check runs: kind, seconds, name, and a bench's command.
set(traza_bundle_checks)
get_property(traza_gpu_tests GLOBAL PROPERTY TRAZA_GPU_TESTS)
foreach(test ${traza_gpu_tests})
  traza_bundle_program(${test} bin/tests)
  get_target_property(seconds ${test} TRAZA_TIMEOUT)
  list(APPEND traza_bundle_checks "test ${seconds} ${test}")
endforeach()
traza_bundle_program(geglu_bench bin/bench)
traza_bundle_program(step_overhead bin/bench)
list(APPEND traza_bundle_checks
  "bench 400 geglu_bandwidth bench/geglu/geglu_bandwidth.py"
  "bench 600 step_overhead bench/overhead/step_overhead.py --rounds 10"
  "bench 400 time_to_answer bench/time_to_answer.py --device gpu0 --rival"
  "bench 200 stop_to_answer bench/stop_to_answer.py --device gpu0"
  "bench 400 daemon tests/gpu/daemon_check.py"
  "bench 590 compiled tests/gpu/compiled_check.py"
  "bench 1200 series bench/series.py")

traza_bundle_files(bin
  deploy/bundle/traza-env deploy/bundle/traza-gpu-check
  deploy/bundle/traza-series)
traza_bundle_files(libexec/traza
  deploy/bundle/gpu_check.py worker/export_workload.py)
traza_bundle_files(bench
  bench/daemon.py bench/series.py bench/series_rows.py
  bench/series_statements.py bench/stop_to_answer.py bench/time_to_answer.py
  bench/torch_profiler.py)
traza_bundle_files(bench/geglu bench/geglu/geglu_bandwidth.py)
traza_bundle_files(tests/gpu
  tests/gpu/compiled_check.py tests/gpu/daemon_check.py tests/gpu/tally.py)
traza_bundle_files(bench/overhead bench/overhead/step_overhead.py)
traza_bundle_files("" deploy/bundle/README.md LICENSE)
traza_bundle_files(share/traza "${PROJECT_BINARY_DIR}/checks")

list(JOIN traza_bundle_checks "\n" content)
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/checks" CONTENT "${content}\n")
list(JOIN traza_bundle_lines "\n" content)
file(GENERATE OUTPUT "${traza_bundle_manifest}" CONTENT "${content}\n")

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_command(OUTPUT "${traza_bundle}"
  COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/scripts/bundle.py"
          --strip "${CMAKE_STRIP}" "${traza_bundle_manifest}" "${traza_bundle}"
  DEPENDS ${traza_bundle_depends} "${traza_bundle_manifest}"
          "${PROJECT_SOURCE_DIR}/scripts/bundle.py"
  COMMENT "Packing traza-bundle.tar.gz" VERBATIM)
add_custom_target(bundle DEPENDS "${traza_bundle}")
