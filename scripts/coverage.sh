#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the lines and branches of lib/ that the tests execute, for every room and in
# total. Builds with clang's instrumentation, runs lit, the unit tests and short
# fuzzers, and fails if they execute less than 90 % of the lines, or if a test fails.
#   scripts/coverage.sh            rooms, and the 20 files with most lines missed
#   scripts/coverage.sh --report   prints the figures of the last run again
#   scripts/coverage.sh --file lib/Sim/Host.cpp
#                                  prints a source with the count of every line
# The build is in build-coverage (COVERAGE_DIR selects another directory); JOBS is the
# number of processes.
set -euo pipefail
cd "$(dirname "$0")/.."

required=90
build="${COVERAGE_DIR:-build-coverage}"
jobs="${JOBS:-$(nproc)}"
llvm=/usr/lib/llvm-22/bin
mode="${1:-}"
[[ -z "$mode" || "$mode" == --report || "$mode" == --file ]] || {
  echo "usage: $0 [--report | --file SOURCE]" >&2
  exit 1
}

# Every program and library with its own counters.
objects() {
  find "$build/bin" "$build/lib" -maxdepth 1 -type f \
    \( -name 'Proteus*Tests' -o -name 'proteus*' -o -name 'libProteusPlugin.so' \) |
    sort
}

cov() {
  local command="$1" programs=() object
  shift
  while read -r object; do programs+=(-object "$object"); done < <(objects)
  "$llvm/llvm-cov" "$command" -instr-profile="$build/coverage.profdata" \
    "${programs[@]:1}" "$@"
}

if [[ -z "$mode" ]]; then
  scripts/setup.sh --packages
  if [[ ! -f "$build/build.ninja" ]]; then
    mkdir -p "$build"
    flags="-fprofile-instr-generate -fcoverage-mapping -fprofile-continuous -w"
    cmake -G Ninja -S . -B "$build" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
      -DCMAKE_CXX_FLAGS="$flags" -DPROTEUS_PRECOMPILED_HEADERS=ON \
      -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir \
      -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache \
      -DLLVM_USE_LINKER=lld >"$build/configure.log" 2>&1 || {
        cat "$build/configure.log" >&2
        rm -f "$build/build.ninja"
        exit 1
      }
  fi
  NINJA_STATUS="coverage: [%f/%t] " ninja -C "$build" -j "$jobs" proteus proteus-opt \
    proteus-strategy-fuzz proteus-fold-fuzz proteus-calibrate proteus-lsp-server \
    ProteusPlugin unittests/all mlir-doc

  # All processes of a program count in one file that they share, so those that crash
  # or exit early count as well.
  rm -rf "$build/profiles"
  mkdir -p "$build/profiles"
  export LLVM_PROFILE_FILE="$PWD/$build/profiles/%c%m.profraw"
  failed=0
  attempt() {
    echo "coverage: $*"
    "$@" >"$build/test.log" 2>&1 || {
      tail -n 30 "$build/test.log" >&2
      echo "coverage: failed: $*" >&2
      failed=1
    }
  }
  attempt "$llvm/lit" -sv -j "$jobs" "$build/test"
  for test in "$build"/bin/Proteus*Tests; do
    attempt "$test" --gtest_brief=1
  done
  attempt "$build/bin/proteus-strategy-fuzz" --seed 1 --count 300 --jobs "$jobs" \
    --out "$build/cases"
  attempt "$build/bin/proteus-fold-fuzz" --seed 3 --count 25 --out "$build/cases"
  attempt env PROTEUS_BIN="$build/bin" python3 scripts/goldens.py
  "$llvm/llvm-profdata" merge --sparse -o "$build/coverage.profdata" \
    "$build"/profiles/*.profraw
  ((failed)) && exit 1
fi

if [[ "$mode" == --file ]]; then
  cov show "$PWD/$2"
  exit
fi
cov export -summary-only "$PWD/lib" >"$build/coverage.json"
python3 - "$build/coverage.json" "$PWD/lib/" "$required" <<'PYTHON'
import json
import sys
from collections import defaultdict

path, prefix, required = sys.argv[1], sys.argv[2], float(sys.argv[3])
rooms = defaultdict(lambda: [0, 0, 0, 0])
files = []
for file in json.load(open(path))["data"][0]["files"]:
    if not file["filename"].startswith(prefix):
        continue
    name = file["filename"][len(prefix):]
    parts = name.split("/")
    room = "/".join(parts[:2]) if parts[0] in ("Dialect", "Transforms") and \
        len(parts) > 2 else parts[0]
    lines, branches = file["summary"]["lines"], file["summary"]["branches"]
    counts = (lines["covered"], lines["count"], branches["covered"], branches["count"])
    files.append((lines["count"] - lines["covered"], name, counts))
    for entry in (rooms[room], rooms["total"]):
        for i, value in enumerate(counts):
            entry[i] += value


def show(name, counts):
    share = [f"{100 * a / b:6.1f} %" if b else "       -"
             for a, b in (counts[:2], counts[2:])]
    print(f"{name:46}{counts[1] - counts[0]:8}{share[0]:>11}{share[1]:>11}")


print(f"{'room':46}{'missed':>8}{'lines':>11}{'branches':>11}")
total = rooms.pop("total")
for room in sorted(rooms):
    show(room, rooms[room])
show("total", total)
print("\nfiles with most lines missed")
for _, name, counts in sorted(files, reverse=True)[:20]:
    show(name, counts)
lines = 100 * total[0] / total[1]
if lines < required:
    sys.exit(f"coverage: {lines:.1f} % of the lines of lib/ are executed, less than "
             f"{required:.0f} %")
PYTHON
