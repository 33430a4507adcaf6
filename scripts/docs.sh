#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Copies the pages that the build generates from the definitions of dialects,
# passes and flags to docs/, and writes the outputs of the commands in the README and
# the tour. Tests compare docs/ with the generated pages.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
build="$(scripts/build_dir.sh)"
mkdir -p docs/dialects
cp "$build"/docs/dialects/*.md docs/dialects/
cp "$build"/docs/proteus.1 docs/
scripts/passes_page.py "$build"/docs/Passes.md "$build"/bin/proteus > "$build"/docs/passes-whole.md
cp "$build"/docs/passes-whole.md docs/passes.md
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
scripts/page_outputs.py --write "$PWD" "$(realpath "$build")/bin/proteus" "$place/pages" \
  "$PWD/README.md" "$PWD/docs/tour.md"
