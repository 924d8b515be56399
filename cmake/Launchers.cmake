# SPDX-License-Identifier: Apache-2.0
# Compiler cache and linker, used when the machine has them.

# Objects are shared between build folders and presets: paths are hashed
# relative to the source tree, and the folder of the compiler run is not.
find_program(TRAZA_CCACHE ccache)
mark_as_advanced(TRAZA_CCACHE)
if(TRAZA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
    CCACHE_NOHASHDIR=1 "${TRAZA_CCACHE}")
endif()

# The default linker takes several times as long on the gRPC binaries.
find_program(TRAZA_LINKER NAMES mold ld.lld)
mark_as_advanced(TRAZA_LINKER)
if(TRAZA_LINKER MATCHES "mold$")
  add_link_options(-fuse-ld=mold)
elseif(TRAZA_LINKER MATCHES "lld$")
  add_link_options(-fuse-ld=lld)
endif()
