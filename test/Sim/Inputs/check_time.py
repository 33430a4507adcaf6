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

and constants of all-reduces in one node, from a set of clusters/communication:

  extra(set)
  wire(set, S, n, rate)   what S bytes of n devices take of a wire
  in_ring(set, S, n, rate)  the protocol Simple on links of that rate, which it
                          can't exceed
  simple(set, k, w)       the protocol Simple: k steps, then w of the wire
  low(set, k, w)          the protocol of low latency
  in_switch(set, v)       the switch adds, at v of the wire
  exchange(set, k, w)     an all-to-all with k peers
"""

import json
import math
import os
import sys

# Latencies and ends are whole picoseconds. Rates are whole bytes per second,
# rounded down: off by 1e-9 at 1 GB/s.
PICOSECONDS, RATE = 2e-6, 1e-9

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../../.."


def constants(name, collective):
    with open(f"{ROOT}/clusters/communication/{name}.json") as file:
        return json.load(file)[collective]


def ring_constants(name):
    return constants(name, "all_reduce")


def wire(name, size, n, rate):
    c = ring_constants(name)
    return size * (2 * (n - 1) + c["extra"]) / n / (rate * c["efficiency"])


def simple(name, steps, time):
    c = ring_constants(name)
    latency = c["simple_base_us"] + steps * c["simple_hop_us"]
    return latency + time + c["simple_fill_root_us"] * math.sqrt(time)


def low(name, steps, time):
    c = ring_constants(name)
    latency = c["low_base_us"] + steps * c["low_hop_us"]
    return latency + time / c["low_efficiency"]


def in_ring(name, size, n, rate):
    c = ring_constants(name)
    steps = 2 * (n - 1)
    time = wire(name, size, n, rate)
    time = max(
        time + c["simple_fill_root_us"] * math.sqrt(time), NAMES["ring"](size, n, rate)
    )
    return c["simple_base_us"] + steps * c["simple_hop_us"] + time


def in_switch(name, time):
    c = constants(name, "in_switch")
    time /= c["efficiency"]
    return c["base_us"] + time + c["fill_root_us"] * math.sqrt(time)


def exchange(name, peers, time):
    c = constants(name, "all_to_all")
    latency = c["base_us"] + peers * peers * c["hop_us"]
    return latency + time + c["fill_root_us"] * math.sqrt(time)


NAMES = {
    "MB": 1e6,
    "GBps": 1e3,
    "sqrt": math.sqrt,
    "max": max,
    "min": min,
    "load": lambda x: math.ceil(x * 65536 - 1e-6) / 65536,
    "extra": lambda name: ring_constants(name)["extra"],
    "wire": wire,
    "in_ring": in_ring,
    "simple": simple,
    "low": low,
    "in_switch": in_switch,
    "exchange": exchange,
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
