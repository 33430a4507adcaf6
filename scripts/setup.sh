#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the Debian packages that are missing, then configures and builds.
# A second run installs, configures and builds nothing.
#   scripts/setup.sh            packages and build
#   scripts/setup.sh --packages packages only
# BUILD_DIR selects another build directory (default: build).
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache clang-22 lld-22 clang-format-22
  libclang-rt-22-dev libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools
  libgtest-dev libbenchmark-dev nlohmann-json3-dev libpugixml-dev
  python3 git
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
[[ "${1:-}" == --packages ]] && exit 0

build="${BUILD_DIR:-build}"
if [[ ! -f "$build/build.ninja" ]]; then
  echo "setup: configuring in $build"
  cmake -G Ninja -S . -B "$build" \
    -DCMAKE_BUILD_TYPE=Release \
    -DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir \
    -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache \
    -DLLVM_ENABLE_LLD=ON >"$build.log" 2>&1 || {
      cat "$build.log" >&2
      rm -rf "$build" "$build.log"
      exit 1
    }
  mv "$build.log" "$build/configure.log"
fi

# Nothing is said when there is nothing to do. Looking for new machine files is
# not worth a line.
NINJA_STATUS="setup: [%f/%t] " ninja -C "$build" | awk -v build="$build" '
  /Entering directory|no work to do|Re-checking globbed directories/ { next }
  !said { print "setup: building in " build " (the first time takes a few minutes)"; said = 1 }
  { print; fflush() }'
