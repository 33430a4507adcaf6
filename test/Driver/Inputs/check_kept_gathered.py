# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it takes and saves to keep activations gathered, for a Llama of four layers
under tensor and sequence parallelism of degree 4.

  check_kept_gathered.py AGAIN KEPT
"""

import json
import sys


def read(path):
    """Bytes of activations at the peak, and gathers over tp per device."""
    with open(path) as file:
        report = json.load(file)
    gathers = sum(row["count_per_device"] for row in report["collectives"]
                  if row["kind"] == "all_gather" and row["axes"] == "tp")
    return report["peak_memory"]["memory_by_owner_bytes"]["activations"], gathers


def main():
    (again, gathers), (kept, fewer) = map(read, sys.argv[1:])
    # The outputs of two norms per layer and of the last one, in bf16.
    values, size, tp = 2 * 4 + 1, 2 * 4096 * 4096, 4
    assert kept - again == values * (size - size // tp), (again, kept)
    assert gathers - fewer == values, (gathers, fewer)


main()
