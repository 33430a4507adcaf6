# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Most of the time of a build without optimisation is spent parsing MLIR's
# headers. -DPROTEUS_PRECOMPILED_HEADERS=ON parses them once, for first builds and
# for people who rebuild often.
option(PROTEUS_PRECOMPILED_HEADERS "Parse MLIR's headers once" OFF)

# Makes a target use the precompiled header of ProteusHeaders, a target that is
# added with the first one.
function(precompile_mlir_headers name)
  if(NOT PROTEUS_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET ProteusHeaders)
    set(source "${PROJECT_BINARY_DIR}/ProteusHeaders.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// Holds the precompiled header.\n")
    add_library(ProteusHeaders STATIC "${source}")
    llvm_update_compile_flags(ProteusHeaders)
    set_target_properties(ProteusHeaders PROPERTIES
      POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
    target_precompile_headers(ProteusHeaders PRIVATE
      <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/OpImplementation.h>
      <mlir/Interfaces/FunctionInterfaces.h> <mlir/Pass/Pass.h>
      <mlir/Dialect/Func/IR/FuncOps.h>)
    target_compile_options(ProteusHeaders PRIVATE
      $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  endif()
  target_precompile_headers(${name} REUSE_FROM ProteusHeaders)
endfunction()

# Adds a static library of Proteus. MLIR_LIBS become libMLIR.so: listing them in
# LINK_LIBS would link a second, static copy of MLIR.
function(add_proteus_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_mlir_library(${name} ${ARG_UNPARSED_ARGUMENTS}
    EXCLUDE_FROM_LIBMLIR DISABLE_INSTALL
    DEPENDS mlir-headers ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS})
  if(ARG_MLIR_LIBS)
    mlir_target_link_libraries(${name} PUBLIC ${ARG_MLIR_LIBS})
  endif()
  precompile_mlir_headers(${name})
  # The static archives hold the objects; a second object library per target
  # would only double the build.
  set_property(GLOBAL APPEND PROPERTY PROTEUS_LIBS ${name})
endfunction()

# Adds a library without MLIR (for example Sim, Cost or Machine), which links
# libLLVM.so only.
function(add_proteus_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} LLVM)
endfunction()

# Embeds files in C++: writes OUTPUT, a list of {name, text} with the files that
# follow in sorted order, to be included into an array.
function(proteus_embed_files output)
  list(SORT ARGN)
  string(REPLACE ";" "," list "${ARGN}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DFILES=${list}" "-DOUTPUT=${output}"
            -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    COMMENT "Embedding ${output}"
    VERBATIM)
endfunction()

function(add_proteus_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  if(ARG_MLIR_LIBS)
    mlir_target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
  endif()
endfunction()

# Adds a GoogleTest binary whose cases ctest discovers.
function(add_proteus_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;MLIR_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  # Fixtures of several files have equal names.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main LLVM)
  if(ARG_MLIR_LIBS)
    mlir_target_link_libraries(${name} PRIVATE ${ARG_MLIR_LIBS})
    precompile_mlir_headers(${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
