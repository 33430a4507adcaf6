#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the build directory: BUILD_DIR if it is set, else build in the source
# tree, or a directory of the user's cache if the source tree is read-only.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -n "${BUILD_DIR:-}" ]]; then
  echo "$BUILD_DIR"
elif [[ -d build && -w build ]] || [[ ! -e build && -w . ]]; then
  echo build
else
  key="$(pwd | cksum | cut -d ' ' -f 1)"
  echo "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/proteus/build-$key"
fi
