#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up what is missing, then runs the tests; --all runs the long ones too.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh

exclude=(-LE long)
[[ "${1:-}" == --all ]] && exclude=()
exec ctest --test-dir "$(scripts/build_dir.sh)" --output-on-failure -j "$(nproc)" "${exclude[@]}"
