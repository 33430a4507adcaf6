#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Copies the pages that the build generates from the definitions of dialects and
# passes to docs/. A test compares docs/ with the generated pages.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
build="$(scripts/build_dir.sh)"
mkdir -p docs/dialects
cp "$build"/docs/dialects/*.md docs/dialects/
scripts/passes_page.py "$build"/docs/Passes.md "$build"/bin/proteus > "$build"/docs/passes-whole.md
cp "$build"/docs/passes-whole.md docs/passes.md
