#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the Debian packages that are missing, then configures and builds.
# A second run installs, configures and builds nothing.
#   scripts/setup.sh             everything: tools, tests, benchmarks
#   scripts/setup.sh --tools     proteus and proteus-opt only, the fastest way:
#                                several sources per compilation
#   scripts/setup.sh --packages  packages only
# BUILD_DIR selects another build directory (default: build). If the source tree
# is read-only, it is a directory of the user's cache.
set -euo pipefail
cd "$(dirname "$0")/.."

mode="${1:---all}"
packages=(
  g++ cmake ninja-build clang-22 lld-22 libmlir-22-dev mlir-22-tools
  llvm-22-dev llvm-22-tools nlohmann-json3-dev libpugixml-dev
  libtomlplusplus-dev
)
[[ "$mode" == --tools ]] || packages+=(
  ccache clang-format-22 libclang-rt-22-dev libgtest-dev libbenchmark-dev
  libsimgrid-dev python3 python3-clang-22 python3-jsonschema git
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" ||
    missing+=("$package")
done

if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup: missing packages: ${missing[*]}" >&2
      echo "setup: run as root, or install sudo" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  if ! apt-cache show libmlir-22-dev >/dev/null 2>&1; then
    echo "setup: the package libmlir-22-dev is not found: MLIR 22 for Debian 12" >&2
    echo "setup: comes with the security suite (bookworm-security main); add it to" >&2
    echo "setup: the apt sources and run this script again" >&2
    exit 1
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
[[ "$mode" == --packages ]] && exit 0

build="$(scripts/build_dir.sh)"
options=()
if [[ ! -f "$build/build.ninja" ]]; then
  options=(
    -DCMAKE_BUILD_TYPE=Release
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22
    -DLLVM_ENABLE_LLD=ON
  )
  command -v ccache >/dev/null &&
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  [[ "$mode" == --tools ]] &&
    options+=(-DPROTEUS_BUILD_TESTS=OFF -DCMAKE_UNITY_BUILD=ON
              -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 -DPROTEUS_PRECOMPILED_HEADERS=ON
              -DCMAKE_CXX_FLAGS=-w)
elif [[ "$mode" == --all ]] && grep -q '^PROTEUS_BUILD_TESTS:BOOL=OFF' "$build/CMakeCache.txt"; then
  # The build of the tests is the same whether or not tools were built before.
  options=(-DPROTEUS_BUILD_TESTS=ON -DCMAKE_UNITY_BUILD=OFF
           -DPROTEUS_PRECOMPILED_HEADERS=OFF -DCMAKE_CXX_FLAGS=)
fi
if ((${#options[@]})); then
  echo "setup: configuring in $build"
  mkdir -p "$build"
  cmake -G Ninja -S . -B "$build" "${options[@]}" >"$build/configure.log" 2>&1 || {
    cat "$build/configure.log" >&2
    rm -f "$build/build.ninja" "$build/CMakeCache.txt"
    exit 1
  }
fi

# One line of progress. On a terminal it is written again for every step, else it
# grows by a percentage now and then. Compiler messages follow it. Nothing is
# printed if there is nothing to do.
targets=(all)
[[ "$mode" == --tools ]] && targets=(proteus proteus-opt)
terminal=0
[[ -t 1 ]] && terminal=1
NINJA_STATUS="@%f %t@ " ninja -C "$build" "${targets[@]}" | awk -v build="$build" -v terminal=$terminal '
  /Entering directory|no work to do|Re-checking globbed directories/ { next }
  /^@[0-9]+ [0-9]+@ / {
    done = substr($1, 2) + 0; total = $2 + 0
    percent = total ? int(100 * done / total) : 100
    if (!begun) {
      begun = 1
      if (!terminal) printf "setup: building in %s (%%):", build
    }
    if (terminal) printf "\rsetup: building in %s: %3d %%", build, percent
    else if (percent >= next_mark) { printf " %d", percent; next_mark = percent - percent % 10 + 10 }
    fflush(); next
  }
  { if (begun) print ""; begun = 0; print; fflush() }
  END { if (begun) print "" }'
