#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs tests and fuzzers in builds with assertions and with clang's sanitizers. Fails
# if a test fails or a sanitizer reports an error; prints the reports.
#   scripts/sanitize.sh all
#     lit tests, unit tests and short fuzzers: addresses, undefined behaviour
#   scripts/sanitize.sh assertions
#     lit tests and unit tests with assertions only: the fastest of the builds
#   scripts/sanitize.sh strategies [--count N --seed N]
#     lowers and executes random strategies (1000): addresses, undefined behaviour
#   scripts/sanitize.sh engine [--count N --seed N]
#     unit tests of engine, network and machine, and random programs folded and
#     unfolded (40): addresses, undefined behaviour
#   scripts/sanitize.sh threads
#     examples from text to report on several threads, and the same unit tests:
#     data races
# Without arguments: all, then threads. Further arguments go to
# proteus-strategy-fuzz and proteus-fold-fuzz. The builds are in build-asan,
# build-tsan and build-assertions (ASAN_BUILD_DIR, TSAN_BUILD_DIR and
# ASSERTIONS_BUILD_DIR select others); JOBS is the number of processes.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  echo "usage: $0 [all|assertions|threads|strategies [ARGUMENT...]|engine [ARGUMENT...]]" >&2
  exit 1
}
parts=(all threads)
if (($#)); then
  [[ " all assertions threads strategies engine " == *" $1 "* ]] || usage
  parts=("$1")
  shift
fi
arguments=("$@")
[[ " strategies engine " == *" ${parts[0]} "* ]] || ! (($#)) || usage

scripts/setup.sh --packages
jobs="${JOBS:-$(nproc)}"
unit_tests=(ProteusSimTests ProteusNetworkTests ProteusMachineTests)
verdict=0

# build DIRECTORY SANITIZER TARGET...; SANITIZER is empty for assertions only.
build() {
  local directory="$1" sanitizer="$2"
  shift 2
  if [[ ! -f "$directory/build.ninja" ]]; then
    echo "sanitize: configuring in $directory"
    mkdir -p "$directory"
    cmake -G Ninja -S . -B "$directory" \
      -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only" \
      -DLLVM_USE_SANITIZER="$sanitizer" \
      -DPROTEUS_PRECOMPILED_HEADERS=ON -DCMAKE_CXX_FLAGS=-w \
      -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 \
      -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir \
      -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache \
      -DLLVM_USE_LINKER=lld >"$directory/configure.log" 2>&1 || {
        cat "$directory/configure.log" >&2
        rm -f "$directory/build.ninja"
        exit 1
      }
  fi
  NINJA_STATUS="sanitize: [%f/%t] " ninja -C "$directory" -j "$jobs" "$@"
}

# begin DIRECTORY: sets the directory for the reports of a part. libMLIR is not
# instrumented, so memory that it marks as unused would keep this mark when Proteus
# uses it again. Reports are files, because some cases run in child processes.
begin() {
  reports="$1"
  rm -rf "$reports"
  mkdir -p "$reports"
  export ASAN_OPTIONS="allow_user_poisoning=0:log_path=$PWD/$reports/asan"
  export UBSAN_OPTIONS="print_stacktrace=1:log_path=$PWD/$reports/ubsan"
  export TSAN_OPTIONS="log_path=$PWD/$reports/tsan"
  local symbolizer
  symbolizer=$(command -v llvm-symbolizer-22 || true)
  if [[ -n "$symbolizer" ]]; then
    export ASAN_SYMBOLIZER_PATH="$symbolizer"
    TSAN_OPTIONS+=":external_symbolizer_path=$symbolizer"
  fi
}

# attempt COMMAND...: runs a command and prints its output only if it fails.
attempt() {
  "$@" >"$reports/output.txt" 2>&1 && return
  cat "$reports/output.txt" >&2
  echo "sanitize: failed: $*" >&2
  failed=1
}

finish() {
  local found
  shopt -s nullglob
  found=("$reports"/asan.* "$reports"/ubsan.* "$reports"/tsan.*)
  shopt -u nullglob
  if ((${#found[@]})); then
    cat "${found[@]}" >&2
    failed=1
  fi
  if ((failed)); then
    echo "sanitize: $1: not clean, see $reports" >&2
    verdict=1
  else
    echo "sanitize: $1: clean"
  fi
}

# with_count N: sets `count` to the number of cases for a fuzzer, unless the user's
# arguments set it.
with_count() {
  count=(--count "$1")
  [[ " ${arguments[*]} " == *" --count"* ]] && count=()
  return 0
}

# Runs the lit tests and all unit tests of a build.
tests() {
  local directory="$1" test
  echo "sanitize: lit"
  attempt ninja -C "$directory" -j "$jobs" check-proteus
  for test in "$directory"/bin/Proteus*Tests; do
    echo "sanitize: ${test##*/}"
    attempt "$test" --gtest_brief=1
  done
}

all() {
  local directory="${ASAN_BUILD_DIR:-build-asan}" fuzzer
  build "$directory" "Address;Undefined" all
  begin "$directory/reports-all"
  tests "$directory"
  echo "sanitize: fuzzers"
  attempt "$directory/bin/proteus-strategy-fuzz" --count 200 --limit 300 \
    --jobs "$jobs" --out "$reports"
  attempt "$directory/bin/proteus-fold-fuzz" --count 10 --out "$reports"
  attempt "$directory/bin/proteus-job-fuzz" --count 40 --out "$reports"
}

assertions() {
  local directory="${ASSERTIONS_BUILD_DIR:-build-assertions}"
  build "$directory" "" all
  begin "$directory/reports"
  tests "$directory"
}

strategies() {
  local directory="${ASAN_BUILD_DIR:-build-asan}"
  build "$directory" "Address;Undefined" proteus-strategy-fuzz
  begin "$directory/reports-strategies"
  with_count 1000
  "$directory/bin/proteus-strategy-fuzz" "${count[@]}" --limit 300 --jobs "$jobs" \
    --out "$reports" "${arguments[@]}" || failed=1
}

engine() {
  local directory="${ASAN_BUILD_DIR:-build-asan}" test
  build "$directory" "Address;Undefined" "${unit_tests[@]}" proteus-fold-fuzz
  begin "$directory/reports-engine"
  for test in "${unit_tests[@]}"; do
    echo "sanitize: $test"
    attempt "$directory/bin/$test" --gtest_brief=1
  done
  with_count 40
  "$directory/bin/proteus-fold-fuzz" "${count[@]}" --out "$reports" \
    "${arguments[@]}" || failed=1
}

# Programs of stages are lowered in parallel, so examples with stages come first.
# The other examples share functions and verifiers between threads.
threads() {
  local directory="${TSAN_BUILD_DIR:-build-tsan}" test example
  build "$directory" Thread "${unit_tests[@]}" proteus-opt
  begin "$directory/reports-threads"
  for example in strategies/hybrid-3d strategies/pipeline-interleaved \
    strategies/pipeline-zero-bubble strategies/tied-embeddings \
    strategies/moe-ep gpt2-small-tp-dp gpt3-175b-1024; do
    echo "sanitize: $example"
    attempt "$directory/bin/proteus-opt" "examples/$example.mlir" \
      --lower-strategy --simulate="report=$reports/report.json" \
      -o "$reports/module.mlir"
  done
  for test in "${unit_tests[@]}"; do
    echo "sanitize: $test"
    attempt "$directory/bin/$test" --gtest_brief=1
  done
}

for part in "${parts[@]}"; do
  failed=0
  "$part"
  finish "$part"
done
exit "$verdict"
