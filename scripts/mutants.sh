#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows that the proof of the lowering has teeth: puts the mistakes of
# scripts/mutants.txt one after the other into a copy of the sources, builds, and
# runs random strategies until one fails. With `engine` the mistakes are those of
# scripts/mutants-engine.txt, and the unit tests of the engine have to find them.
# Prints what caught each mistake; fails if one is not caught or no longer fits the
# sources.
#   scripts/mutants.sh                         all mistakes in the lowering
#   scripts/mutants.sh engine                  all mistakes in the engine
#   scripts/mutants.sh --only stale-parameter  one of them
# The copy is build-mutants (MUTANTS_DIR selects another directory), its build is
# in there, and both are used again by the next run. JOBS is the number of
# processes.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --packages
exec python3 scripts/mutants.py --copy "${MUTANTS_DIR:-build-mutants}" \
  --jobs "${JOBS:-$(nproc)}" "$@"
