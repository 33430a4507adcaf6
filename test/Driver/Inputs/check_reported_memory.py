# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of the same runs as different stacks report it: the allocator has more than
the tensors, and the device more than the allocator.

  check_reported_memory.py ALLOCATED RESERVED DEVICE
"""

import json
import sys

GIB = 1 << 30


def read(path):
    with open(path) as file:
        return [case["predicted_peak_memory_bytes"]
                for case in json.load(file)["cases"]]


def main():
    figures = list(zip(*map(read, sys.argv[1:])))
    assert figures
    for allocated, reserved, device in figures:
        assert allocated < reserved < 1.2 * allocated, (allocated, reserved)
        # The context of the driver alone is 1.06 GB.
        assert reserved + 1.06e9 <= device < reserved + 8 * GIB, (reserved, device)


main()
