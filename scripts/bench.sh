#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the project if necessary, runs the benchmarks and writes
# build/benchmarks.json. Then prints a table of the times of lowering and
# simulation with their limits, and fails if one exceeds its limit. Arguments go
# to Google Benchmark.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
build="$(scripts/build_dir.sh)"
"$build/bin/proteus-bench" --benchmark_out="$build/benchmarks.json" \
  --benchmark_out_format=json "$@"
exec python3 scripts/bench_verdict.py "$build/benchmarks.json"
