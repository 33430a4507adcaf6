# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fails if a source is not formatted: cmake -DCLANG_FORMAT=... -DSOURCE_DIR=...
# -P CheckFormat.cmake. Run as a test, so that new files need no configuring.
set(patterns)
foreach(room include lib tools unittests benchmarks)
  list(APPEND patterns ${SOURCE_DIR}/${room}/*.h ${SOURCE_DIR}/${room}/*.cpp)
endforeach()
file(GLOB_RECURSE sources ${patterns})
execute_process(COMMAND ${CLANG_FORMAT} --dry-run --Werror ${sources}
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "sources are not formatted; run clang-format-22 -i")
endif()
