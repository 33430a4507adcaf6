#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows that the checks of the lowering find mistakes. Inserts each mistake of
# scripts/mutants.txt into a copy of the sources, builds it, and runs random
# strategies until one fails. With `engine`, the mistakes are those of
# scripts/mutants-engine.txt, and the unit tests of the engine must find them.
# Prints the check that caught each mistake. Fails if a mistake is not caught, or
# if it no longer fits the sources. A mistake is found by the name of its function,
# so it still fits when the function moves.
#   scripts/mutants.sh                         all mistakes in the lowering
#   scripts/mutants.sh engine                  all mistakes in the engine
#   scripts/mutants.sh --only stale-parameter  one of them
#   scripts/mutants.py --list                  function, file and rule of each one
# The copy and its build are in build-mutants (MUTANTS_DIR selects another
# directory); the next run uses them again. JOBS is the number of processes.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --packages
exec python3 scripts/mutants.py --copy "${MUTANTS_DIR:-build-mutants}" \
  --jobs "${JOBS:-$(nproc)}" "$@"
