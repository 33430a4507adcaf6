#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that reports describe the same run.

  compare.py REPORT REPORT...

They have to agree in the iteration time, the peak memory and the collectives;
how many devices were simulated may differ.
"""

import json
import sys


def figures(path):
    with open(path) as file:
        report = json.load(file)
    collectives = [
        (row["kind"], row["axes"], row["group_size"], row["bytes"], row["count"])
        for row in report["collectives"]
    ]
    return {
        "iteration_time_ps": report["iteration_time_ps"],
        "peak_memory_bytes": report["peak_memory_bytes"],
        "collectives": sorted(collectives),
    }


def main(paths):
    first = figures(paths[0])
    same = True
    for path in paths[1:]:
        other = figures(path)
        for key, value in first.items():
            if other[key] != value:
                same = False
                print(f"{key}: {value} in {paths[0]}, {other[key]} in {path}")
    # A run without any communication would compare nothing.
    if not first["collectives"]:
        same = False
        print(f"{paths[0]} has no collectives")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
