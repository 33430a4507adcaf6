#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs libFuzzer on the readers of untrusted files, in a build with clang's sanitizers.
# Fails if a reader crashes, takes too much time or memory, or accepts an inconsistent
# input; the input is then in the build directory.
#   scripts/fuzz_inputs.sh                     600 s for each reader
#   scripts/fuzz_inputs.sh --seconds 60 ir     60 s, only IR
# The readers are the folders of tools/proteus-input-fuzz/corpus. The build is in
# build-fuzz (BUILD_DIR selects another directory).
set -euo pipefail
cd "$(dirname "$0")/.."
source=tools/proteus-input-fuzz
seconds=600
targets=()
while (($#)); do
  case "$1" in
  --seconds)
    seconds="${2:?--seconds needs a number}"
    shift 2
    ;;
  *)
    [[ -d "$source/corpus/$1" ]] || {
      echo "fuzz: unknown reader '$1'; usage: $0 [--seconds N] [READER...]" >&2
      echo "fuzz: the readers are" "$(ls "$source/corpus")" >&2
      exit 1
    }
    targets+=("$1")
    shift
    ;;
  esac
done
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || {
  echo "fuzz: --seconds needs a positive number, got '$seconds'" >&2
  exit 1
}
((${#targets[@]})) || mapfile -t targets < <(ls "$source/corpus")

scripts/setup.sh --packages
dpkg-query -W -f '${Status}' libclang-rt-22-dev 2>/dev/null | grep -q "ok installed" || {
  echo "fuzz: clang's runtime is missing: apt-get install libclang-rt-22-dev" >&2
  exit 1
}
build="${BUILD_DIR:-build-fuzz}"
if [[ ! -f "$build/build.ninja" ]]; then
  echo "fuzz: configuring in $build"
  mkdir -p "$build"
  cmake -G Ninja -S . -B "$build" -DPROTEUS_FUZZERS=ON \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only" \
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache \
    -DLLVM_USE_LINKER=lld >"$build/configure.log" 2>&1 || {
      cat "$build/configure.log" >&2
      rm -f "$build/build.ninja"
      exit 1
    }
fi
NINJA_STATUS="fuzz: [%f/%t] " ninja -C "$build" -j "${JOBS:-$(nproc)}" \
  "${targets[@]/#/proteus-fuzz-}"

# Prints the files of the project from which a reader starts, besides its corpus.
further() {
  case "$1" in
  cluster) ls clusters/*.json ;;
  device) ls clusters/devices/*.json ;;
  stack) ls clusters/stacks/*.json ;;
  site) ls clusters/sites/*.json ;;
  topology) ls validation/reference/topologies/*.xml ;;
  ir) ls examples/strategies/*.mlir test/Dialect/*/*.mlir ;;
  esac
}

# fuzz READER: runs its fuzzer. New inputs are kept in the build directory.
fuzz() {
  local reader="$1" found="$build/fuzz/$1/corpus" log="$build/fuzz/$1/log"
  local failures="$build/fuzz/$1/failures"
  mkdir -p "$found" "$failures"
  # Names of different folders may be equal.
  further "$reader" | while read -r file; do cp "$file" "$found/${file//\//-}"; done
  echo "fuzz: $reader for $seconds s"
  "$build/bin/proteus-fuzz-$reader" -max_total_time="$seconds" -timeout=20 \
    -max_len=65536 -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 \
    -dict="$source/dictionaries/$reader.dict" -artifact_prefix="$failures/" \
    "$found" "$source/corpus/$reader" >"$log" 2>&1 || {
      tail -n 40 "$log" >&2
      echo "fuzz: $reader failed; the input is in $failures" >&2
      return 1
    }
  echo "fuzz: $reader is clean: $(awk '/number_of_executed_units/ {print $2}' "$log") inputs"
}
# MLIR's library is not instrumented, so memory that our code poisons may be
# unpoisoned without a trace.
export ASAN_OPTIONS=allow_user_poisoning=0
failed=0
for target in "${targets[@]}"; do fuzz "$target" || failed=1; done
exit "$failed"
