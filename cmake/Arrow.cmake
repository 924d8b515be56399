# SPDX-License-Identifier: Apache-2.0
# traza::arrow and traza::parquet. In this order: TRAZA_ARROW_DIR (a pyarrow
# package folder or a prefix), a system Arrow, the wheel of scripts/setup.
# TRAZA_ARROW_LIBRARIES lists the files that an install has to carry along:
# empty for a system Arrow.

set(TRAZA_ARROW_DIR "" CACHE PATH
  "An Arrow with Parquet: a pyarrow package folder or an install prefix")
set(TRAZA_ARROW_LIBRARIES)

# Imports lib<name>.so from a folder; wheels carry versioned names only.
function(traza_import_arrow name folder include_dir)
  file(GLOB candidates "${folder}/lib${name}.so.[0-9][0-9]*"
                       "${folder}/lib${name}.so")
  list(POP_FRONT candidates library)
  if(NOT library)
    message(FATAL_ERROR "no lib${name}.so in ${folder}")
  endif()
  add_library(traza::${name} SHARED IMPORTED GLOBAL)
  set_target_properties(traza::${name} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${include_dir}")
  set(TRAZA_ARROW_LIBRARIES ${TRAZA_ARROW_LIBRARIES} "${library}" PARENT_SCOPE)
endfunction()

if(TRAZA_ARROW_DIR AND NOT EXISTS "${TRAZA_ARROW_DIR}/libarrow_python.so")
  find_package(Arrow CONFIG REQUIRED
    PATHS "${TRAZA_ARROW_DIR}" NO_DEFAULT_PATH)
  find_package(Parquet CONFIG REQUIRED
    PATHS "${TRAZA_ARROW_DIR}" NO_DEFAULT_PATH)
elseif(NOT TRAZA_ARROW_DIR)
  find_package(Arrow CONFIG QUIET)
  find_package(Parquet CONFIG QUIET)
endif()

if(TARGET Arrow::arrow_shared AND TARGET Parquet::parquet_shared)
  add_library(traza::arrow INTERFACE IMPORTED GLOBAL)
  target_link_libraries(traza::arrow INTERFACE Arrow::arrow_shared)
  add_library(traza::parquet INTERFACE IMPORTED GLOBAL)
  target_link_libraries(traza::parquet INTERFACE
    Parquet::parquet_shared Arrow::arrow_shared)
  message(STATUS "Arrow: system ${Arrow_VERSION}")
else()
  set(traza_pyarrow "${PROJECT_SOURCE_DIR}/.deps/site/pyarrow")
  if(TRAZA_ARROW_DIR)
    set(traza_pyarrow "${TRAZA_ARROW_DIR}")
  endif()
  if(NOT EXISTS "${traza_pyarrow}/include/arrow/api.h")
    message(FATAL_ERROR "no Arrow found: run scripts/setup, install "
      "libarrow-dev and libparquet-dev, or set TRAZA_ARROW_DIR")
  endif()
  traza_import_arrow(arrow "${traza_pyarrow}" "${traza_pyarrow}/include")
  traza_import_arrow(parquet "${traza_pyarrow}" "${traza_pyarrow}/include")
  set_property(TARGET traza::parquet APPEND PROPERTY
    INTERFACE_LINK_LIBRARIES traza::arrow)
  message(STATUS "Arrow: ${traza_pyarrow}")
endif()
