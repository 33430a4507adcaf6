#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the pages that are generated from the dialect and pass definitions
# into docs/. A test compares them with what the definitions give.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
build="${BUILD_DIR:-build}"
mkdir -p docs/dialects
cp "$build"/docs/dialects/*.md docs/dialects/
cp "$build"/docs/Passes.md docs/passes.md
