#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs libFuzzer on the readers of cluster files and topology dumps, in a build with
# clang's sanitizers. Fails if a reader crashes, hangs or accepts an inconsistent
# input; the input is then in the build directory.
#   scripts/fuzz_inputs.sh               600 s for each reader
#   scripts/fuzz_inputs.sh --seconds 60
# The build is in build-fuzz (BUILD_DIR selects another directory).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=600
while (($#)); do
  case "$1" in
  --seconds)
    seconds="${2:?--seconds needs a number}"
    shift 2
    ;;
  *)
    echo "fuzz: unknown argument '$1'; usage: $0 [--seconds N]" >&2
    exit 1
    ;;
  esac
done
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] || {
  echo "fuzz: --seconds needs a positive number, got '$seconds'" >&2
  exit 1
}

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
  proteus-cluster-fuzz proteus-topology-fuzz

# Prints the words of a format, which become the dictionary of the fuzzer.
words() { grep -hoE '"[a-z_]+"|[a-z_]+=' "$@" | tr -d '"' | sort -u | sed 's/.*/"&"/'; }

# fuzz NAME FILE...: runs the fuzzer NAME with the files as its first corpus.
fuzz() {
  local name="$1" found="$build/$1-corpus" artifacts="$build/$1-failures/"
  shift
  mkdir -p "$found" "$artifacts"
  words "$@" >"$build/$name.dict"
  cp "$@" "$found"
  echo "fuzz: $name for $seconds s"
  "$build/bin/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
    -max_len=16384 -dict="$build/$name.dict" -artifact_prefix="$artifacts" \
    -print_final_stats=1 "$found" >"$build/$name.log" 2>&1 || {
      tail -n 40 "$build/$name.log" >&2
      echo "fuzz: $name failed; the input is in $artifacts" >&2
      return 1
    }
  echo "fuzz: $name is clean: $(grep number_of_executed_units "$build/$name.log" |
    awk '{print $2}') inputs"
}
fuzz proteus-cluster-fuzz clusters/*.json
fuzz proteus-topology-fuzz validation/reference/topologies/*.xml
