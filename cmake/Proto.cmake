# SPDX-License-Identifier: Apache-2.0
# traza_proto(proto ROOT dir PROTOS a/b.proto ...) makes traza::proto from
# .proto files; *_service.proto and health.proto get gRPC stubs as well.
# Headers are included by the path of their .proto: "traza/v1/job.pb.h".

set(TRAZA_PROTO_DIR "${PROJECT_BINARY_DIR}/gen")

function(traza_proto name)
  cmake_parse_arguments(ARG "" "ROOT" "PROTOS" ${ARGN})
  file(MAKE_DIRECTORY "${TRAZA_PROTO_DIR}")
  set(sources)
  foreach(proto ${ARG_PROTOS})
    string(REGEX REPLACE "\\.proto$" "" stem "${proto}")
    set(outputs "${TRAZA_PROTO_DIR}/${stem}.pb.cc"
                "${TRAZA_PROTO_DIR}/${stem}.pb.h")
    set(grpc_arguments)
    if(proto MATCHES "(_service|/health)\\.proto$")
      list(APPEND outputs "${TRAZA_PROTO_DIR}/${stem}.grpc.pb.cc"
                          "${TRAZA_PROTO_DIR}/${stem}.grpc.pb.h")
      set(grpc_arguments
        "--grpc_out=${TRAZA_PROTO_DIR}"
        "--plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>")
    endif()
    # Every file waits for all: imports are few, and the compiler is quick.
    list(TRANSFORM ARG_PROTOS PREPEND "${ARG_ROOT}/" OUTPUT_VARIABLE inputs)
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND protobuf::protoc "-I${ARG_ROOT}"
              "--cpp_out=${TRAZA_PROTO_DIR}" ${grpc_arguments}
              "${ARG_ROOT}/${proto}"
      DEPENDS ${inputs}
      COMMENT "protoc ${proto}" VERBATIM)
    list(APPEND sources ${outputs})
  endforeach()
  # For tools that read sources without building them.
  add_custom_target(traza_${name}_sources DEPENDS ${sources})
  add_library(traza_${name} STATIC ${sources})
  add_library(traza::${name} ALIAS traza_${name})
  target_include_directories(traza_${name} SYSTEM PUBLIC "${TRAZA_PROTO_DIR}")
  # Generated code is not ours to check, and takes long to instrument.
  target_compile_options(traza_${name} PRIVATE
    -w -fno-sanitize=address,undefined)
  target_link_libraries(traza_${name} PUBLIC protobuf::libprotobuf gRPC::grpc++)
endfunction()
