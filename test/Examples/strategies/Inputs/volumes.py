#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what a simulated step communicates and holds, for FileCheck.

  volumes.py REPORT            one line per collective, and totals
  volumes.py REPORT OTHER      the totals of REPORT over those of OTHER

A collective is printed as `kind over axes: count x bytes`, per device: how often
a device takes part and the bytes of the buffer, that is, of the whole value.
`moved` is what a device sends: with n devices an all-gather and a reduce-scatter
of b bytes send b (n - 1) / n, an all-reduce twice as much.
"""

import json
import sys

ROUNDS = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1}


def load(path):
    with open(path) as file:
        return json.load(file)


def totals(report):
    moved = 0
    for row in report["collectives"]:
        n = row["group_size"]
        moved += (
            ROUNDS[row["kind"]]
            * row["bytes"]
            * row["count_per_device"]
            * (n - 1)
            / n
        )
    return {
        "moved": moved,
        "device memory": report["peak_memory_bytes"],
        "host memory": report["peak_host_memory_bytes"],
        "gradients": report["peak_memory"]["memory_by_owner_bytes"]["gradients"],
        "time": report["iteration_time_s"],
    }


def main():
    report = load(sys.argv[1])
    if len(sys.argv) == 3:
        other = totals(load(sys.argv[2]))
        for name, value in totals(report).items():
            if other[name]:
                print(f"{name} ratio: {value / other[name]:.4f}")
        return
    lines = []
    for row in report["collectives"]:
        lines.append(
            f"{row['kind']} over {row['axes']}: "
            f"{row['count_per_device']:g} x {row['bytes']}"
        )
    print("\n".join(sorted(lines)))
    for name, value in totals(report).items():
        if name != "time":
            print(f"{name}: {value:g} bytes")


main()
