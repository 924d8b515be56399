# SPDX-License-Identifier: Apache-2.0
# Writes the one file that knows the version: gen/base/version.h.

find_package(Git QUIET)
set(TRAZA_REVISION "unknown")
if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}"
            rev-parse --short=12 HEAD
    OUTPUT_VARIABLE traza_revision OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE traza_revision_result ERROR_QUIET)
  if(traza_revision_result EQUAL 0)
    set(TRAZA_REVISION "${traza_revision}")
  endif()
endif()
configure_file("${PROJECT_SOURCE_DIR}/base/version.h.in"
               "${PROJECT_BINARY_DIR}/gen/base/version.h" @ONLY)
