# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Script (cmake -P): writes OUTPUT, a list of {"name", R"(contents)"} entries,
# one per file of the comma-separated list FILES. The name is the file's stem.
string(REPLACE "," ";" FILES "${FILES}")
set(text "// Generated from data files.\n")
foreach(file IN LISTS FILES)
  file(READ "${file}" contents)
  get_filename_component(stem "${file}" NAME_WLE)
  string(APPEND text "{\"${stem}\", R\"json(${contents})json\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
