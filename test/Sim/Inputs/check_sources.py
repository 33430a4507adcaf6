#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks where the kernel times of profile.mlir come from.

  check_sources.py WITH_PROFILE WITHOUT

Shares sum to 1. With the profile, fc1 is measured and takes 500 us of the kernel
time, and fc2 is interpolated. The interval holds the time and is wider where less is
known.
"""

import json
import sys

reports = [json.load(open(path)) for path in sys.argv[1:]]
for report in reports:
    assert abs(sum(report["sources"].values()) - 1) < 1e-12, report["sources"]
    low, high = (report["uncertainty"][key] for key in ("low_s", "high_s"))
    assert 0 < low < report["iteration_time_s"] < high, report["uncertainty"]
measured, plain = (report["sources"] for report in reports)
kernels = reports[0]["stages"][0]["busy_s"]
assert abs(measured["measured"] - 500e-6 / kernels) < 1e-6, measured
assert measured["interpolated"] > 0 and measured["datasheet"] > 0, measured
assert plain["measured"] == plain["interpolated"] == plain["roofline"] == 0, plain


def width(report):
    return report["uncertainty"]["high_s"] / report["uncertainty"]["low_s"]


assert width(reports[0]) < width(reports[1]), (width(reports[0]), width(reports[1]))
