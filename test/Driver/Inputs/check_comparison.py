# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order and the fields of a comparison."""

import json
import sys

with open(sys.argv[1]) as stream:
    rows = json.load(stream)["strategies"]
assert len(rows) == 4
fit = [row for row in rows if row["fits"]]
assert rows[:len(fit)] == fit, "what fits comes first"
rates = [row["samples_per_s"] for row in fit]
assert rates == sorted(rates, reverse=True)
assert rows[-1]["error"] and rows[-1]["iteration_time_s"] is None
for row in rows[:-1]:
    assert row["error"] is None
    assert row["fits"] == (row["needed_memory_bytes"] <=
                           row["memory_capacity_bytes"])
    assert (row["instead"] is None) == row["fits"]
