# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of the mean length, memory of the longest: MEAN SHORT LONG, reports."""
import json
import sys

mean, short, long = (json.load(open(name)) for name in sys.argv[1:])
assert mean["iteration_time_s"] == short["iteration_time_s"], "time"
assert mean["iteration_time_s"] < long["iteration_time_s"], "shorter is faster"
assert mean["breakdown"] == short["breakdown"], "breakdown"
for key in ("peak_memory_bytes", "fits"):
    assert mean[key] == long[key], key
assert short["peak_memory_bytes"] < long["peak_memory_bytes"], "memory matters"
