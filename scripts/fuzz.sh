#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every fuzzer of the build on a new seed, each for an equal part of the time,
# and prints the seed, so that the run can be repeated. Fails if a fuzzer finds
# something; cases are in the build directory, made smaller.
#   scripts/fuzz.sh                          about 5 minutes, a seed of today
#   scripts/fuzz.sh --seconds 3600           an hour
#   scripts/fuzz.sh --seed 42 --seconds 60   the cases of an earlier run
# A fuzzer runs batches of cases until its time has passed. The cases of a batch
# depend on the seed and on the number of the batch only.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "fuzz: $1; usage: $0 [--seed N] [--seconds N]" >&2
  exit 1
}
seconds=300
seed=
while (($#)); do
  case "$1" in
  --seconds | --seed)
    [[ "${2:-}" =~ ^[1-9][0-9]{0,8}$ ]] || fail "$1 needs a positive number, got '${2:-}'"
    [[ "$1" == --seed ]] && seed=$2 || seconds=$2
    shift 2
    ;;
  *) fail "unknown argument '$1'" ;;
  esac
done
[[ -n "$seed" ]] || seed=$((($(od -An -N4 -tu4 /dev/urandom) % 999999999) + 1))

scripts/setup.sh
build="$(scripts/build_dir.sh)"
out="$build/fuzz"
mkdir -p "$out"
export PROTEUS_VERIFY_EACH=1
fuzzers=(proteus-strategy-fuzz proteus-fold-fuzz proteus-job-fuzz)
declare -A batch=([proteus-strategy-fuzz]=50 [proteus-fold-fuzz]=4 [proteus-job-fuzz]=20)
echo "fuzz: seed $seed, $seconds s"

findings=0
for fuzzer in "${fuzzers[@]}"; do
  end=$((SECONDS + seconds / ${#fuzzers[@]}))
  first=0
  failed=0
  while ((first == 0 || SECONDS < end)); do
    command=("$build/bin/$fuzzer" --seed "$seed" --first "$first"
             --count "${batch[$fuzzer]}" --out "$out")
    if ! "${command[@]}" >"$out/$fuzzer.log" 2>&1; then
      cat "$out/$fuzzer.log"
      echo "fuzz: found by: ${command[*]}"
      failed=$((failed + 1))
    fi
    first=$((first + ${batch[$fuzzer]}))
  done
  echo "fuzz: $fuzzer: $first cases, $failed of $((first / ${batch[$fuzzer]})) batches failed"
  findings=$((findings + failed))
done
((findings == 0))
