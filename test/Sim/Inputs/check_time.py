#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the iteration time of a report with a closed form.

  check_time.py REPORT FORMULA

The formula is an expression in microseconds. It may use

  MB, GBps           bytes, and bytes per microsecond
  sqrt, max, min
  ring(S, n, rate)   what S bytes take in an all-reduce of n devices, each of which
                     sends 2 (n - 1) / n S at rate, in whole bytes
  load(x)            x, as loads of links are counted: in 65536ths, rounded up
"""

import json
import math
import sys

# Latencies and ends are whole picoseconds. Rates are whole bytes per second,
# rounded down: off by 1e-9 at 1 GB/s.
PICOSECONDS, RATE = 2e-6, 1e-9

NAMES = {
    "MB": 1e6,
    "GBps": 1e3,
    "sqrt": math.sqrt,
    "max": max,
    "min": min,
    "load": lambda x: math.ceil(x * 65536 - 1e-6) / 65536,
    "ring": lambda size, n, rate: math.ceil(2 * (n - 1) * size / n) / rate,
}


def main(path, formula):
    with open(path) as file:
        actual = json.load(file)["iteration_time_ps"] / 1e6
    expected = eval(formula, {"__builtins__": {}}, NAMES)
    if abs(actual - expected) <= PICOSECONDS + RATE * expected:
        return 0
    print(f"{path}: {formula} = {expected:.6f} us, but the step takes {actual:.6f}")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
