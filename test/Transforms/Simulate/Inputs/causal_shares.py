#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the time of causal attention on each device of simulate-context.mlir.

  causal_shares.py CONTIGUOUS ZIGZAG RING RING_ZIGZAG

Of n contiguous parts, part i sees (2 i + 1) / (2 n^2) of all pairs of a query
and a key; of n parts in a zigzag each sees 1 / (2 n). A ring visits the same
pairs in as many kernels as there are blocks that are not wholly in the future.
"""

import json
import sys

PARTS = 4
# 4 sequences, 8192 queries and keys, 1024 wide, 4 FLOPs each; bf16 on an A100.
FULL = 4 * 8192 * 8192 * 1024 * 4 / 312e12
OVERHEAD = 1.5e-6


def times(path):
    with open(path) as file:
        report = json.load(file)
    return {
        stage["representative"]: sum(
            row["time_s"]
            for row in stage["compute_by_op"]
            if row["op"].startswith("nn.attention")
        )
        for stage in report["stages"]
    }


def check(path, expected):
    found = times(path)
    assert sorted(found) == sorted(expected), (path, found)
    for device, time in expected.items():
        assert abs(found[device] - time) < 1e-10, (path, device, found, time)


def main():
    contiguous, zigzag, ring, ring_zigzag = sys.argv[1:]
    share = [(2 * i + 1) / (2 * PARTS**2) for i in range(PARTS)]
    check(contiguous, {i: FULL * share[i] + OVERHEAD for i in range(PARTS)})
    check(
        ring,
        {i: FULL * share[i] + (i + 1) * OVERHEAD for i in range(PARTS)},
    )
    # All devices are alike: one stands for them.
    check(zigzag, {0: FULL / (2 * PARTS) + OVERHEAD})
    check(ring_zigzag, {0: FULL / (2 * PARTS) + PARTS * OVERHEAD})


main()
