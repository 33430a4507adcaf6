#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up the tools that are missing, then simulates a training job and prints the
# summary.
#   scripts/simulate.sh                 the embedded example
#   scripts/simulate.sh FILE.mlir [proteus-opt options]
set -euo pipefail
cd "$(dirname "$0")/.."
invoked_from="$OLDPWD"
scripts/setup.sh --tools

file="${1:-examples/gpt2-small-tp-dp.mlir}"
shift || true
[[ -f "$file" ]] || file="$invoked_from/$file"
exec "$(scripts/build_dir.sh)/bin/proteus-opt" --lower-strategy --simulate=summary "$@" "$file" -o /dev/null
