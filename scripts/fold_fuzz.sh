#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Simulates random programs on random clusters with fold=none, fold=ranks and
# fold=all. Fails, and leaves the programs in build/fold-fuzz, if a figure of any
# rank differs.
#   scripts/fold_fuzz.sh                    300 programs
#   scripts/fold_fuzz.sh --count 50 --seed 7
# Arguments go to proteus-fold-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
count=(--count 300)
[[ " $* " == *" --count"* ]] && count=()
build="${BUILD_DIR:-build}"
exec "$build/bin/proteus-fold-fuzz" "${count[@]}" --out "$build/fold-fuzz" "$@"
