#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lowers and executes random strategies in a build that clang's address and
# undefined-behaviour sanitizers watch, with assertions on. Fails, and prints the
# reports, if one is found or a case fails.
#   scripts/sanitize.sh                     1000 strategies
#   scripts/sanitize.sh --count 100 --seed 7
# Arguments go to proteus-strategy-fuzz. The build is in build-asan (BUILD_DIR
# selects another directory); JOBS is the number of processes.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --packages
build="${BUILD_DIR:-build-asan}"
jobs="${JOBS:-$(nproc)}"
if [[ ! -f "$build/build.ninja" ]]; then
  echo "sanitize: configuring in $build"
  mkdir -p "$build"
  cmake -G Ninja -S . -B "$build" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only" \
    -DLLVM_USE_SANITIZER="Address;Undefined" \
    -DPROTEUS_PRECOMPILED_HEADERS=ON \
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache \
    -DLLVM_USE_LINKER=lld >"$build/configure.log" 2>&1 || {
      cat "$build/configure.log" >&2
      rm -f "$build/build.ninja"
      exit 1
    }
fi
NINJA_STATUS="sanitize: [%f/%t] " ninja -C "$build" -j "$jobs" proteus-strategy-fuzz

# libMLIR is not instrumented: memory that it has marked as unused would stay so
# when our code uses it again. The cases run in processes that report to files.
reports="$build/sanitizer-reports"
rm -rf "$reports"
mkdir -p "$reports"
export ASAN_OPTIONS="allow_user_poisoning=0:log_path=$PWD/$reports/asan"
export UBSAN_OPTIONS="print_stacktrace=1:log_path=$PWD/$reports/ubsan"
symbolizer=$(command -v llvm-symbolizer-22 || true)
[[ -n "$symbolizer" ]] && export ASAN_SYMBOLIZER_PATH="$symbolizer"

count=(--count 1000)
[[ " $* " == *" --count"* ]] && count=()
verdict=0
"$build/bin/proteus-strategy-fuzz" "${count[@]}" --limit 300 --jobs "$jobs" \
  --out "$reports" "$@" || verdict=$?
shopt -s nullglob
found=("$reports"/asan.* "$reports"/ubsan.*)
if ((${#found[@]})); then
  cat "${found[@]}" >&2
  verdict=1
fi
if ((verdict)); then
  echo "sanitize: not clean, see $reports" >&2
else
  echo "sanitize: clean"
fi
exit "$verdict"
