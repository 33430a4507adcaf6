#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sets up what is missing, then runs the benchmarks; the JSON lands in
# build/benchmarks.json. Ends with a table of what lowering and simulation cost and
# may cost, and fails if they cost more. Arguments go to Google Benchmark.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
build="${BUILD_DIR:-build}"
"$build/bin/proteus-bench" --benchmark_out="$build/benchmarks.json" \
  --benchmark_out_format=json "$@"
exec python3 scripts/bench_verdict.py "$build/benchmarks.json"
