#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shows that the tests find mistakes. Puts mistakes into a copy of the sources, builds
# the copy once, and runs the tests that execute the code of one mistake after the
# other, the fastest first, until one fails. There are two kinds of mistakes:
#   by hand: those of scripts/mutants.txt, which random strategies must find, and those
#     of scripts/mutants-engine.txt, which the unit tests of the engine must find
#   by rule: operators, constants, conditions and calls in all passes, the engine,
#     costs, network, gradients, layouts and plans. A number of them is drawn by a seed.
# Fails if a mistake by hand is not found, or fewer than 95 % of those by rule. Mutants
# that compute the same as the sources are listed in scripts/mutants-survivors.txt with
# the reason, and do not count.
#   scripts/mutants.sh                         all by hand, and 200 by rule
#   scripts/mutants.sh lowering                those by hand in the lowering
#   scripts/mutants.sh engine                  those by hand in the engine
#   scripts/mutants.sh rules --seed 7 --count 50 --room Sim
#   scripts/mutants.sh --only stale-parameter  one of them, by name or number
#   scripts/mutants.sh --again build-mutants/survivors-rule.txt
#                                              the survivors of the last run
#   scripts/mutants.py --list                  those by hand, with their places
# The copy, its build and the times of the tests are in build-mutants (MUTANTS_DIR
# selects another directory); the next run uses them again. JOBS is the number of
# processes.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --packages
# Debian's Python has the package of clang's syntax trees.
exec /usr/bin/python3 scripts/mutants.py --copy "${MUTANTS_DIR:-build-mutants}" \
  --jobs "${JOBS:-$(nproc)}" "$@"
