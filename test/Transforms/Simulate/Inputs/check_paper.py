# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares reports of fidelity=paper with the closed forms of docs/reference.md.

usage: check_paper.py mlp CLUSTER GAMMA REPORT
       check_paper.py pairs SHARE REPORT
       check_paper.py pipeline REPORT
"""

import json
import sys

US = 1e-6
# FLOP/s, bytes/s, bytes/s and seconds of an all-reduce over all eight devices.
CLUSTERS = {
    # The fixed bandwidth; 14 hops over PCIe.
    "titanxp-pcie": (12.15e12, 547.7e9, 4.2e9, (8.4 + 14 * 5.7) * US),
    # Rings of 132 GB/s, 14 steps for eight parts; 14 hops over NVLink.
    "dgx1-v100": (15.7e12, 900e9, 132e9 * 8 / 14, (8.4 + 14 * 3.4) * US),
}


def gemm(flops, memory, m, n, k):
    work, moved = 2 * m * n * k, 4 * (m * n + m * k + n * k)
    if work / moved > flops / memory:
        return work / flops
    return moved / memory + 5 * US


def elementwise(memory, elements):
    return max(4 * elements / memory, 10 * US)


def mlp(cluster, gamma):
    """Eight replicas with 1024 rows each: 1024 -> 4096 -> 512."""
    flops, memory, bandwidth, latency = CLUSTERS[cluster]
    rows, gap = 1024, 2 * US
    fc1 = gemm(flops, memory, rows, 4096, 1024)
    fc2 = gemm(flops, memory, rows, 512, 4096)
    hidden = rows * 4096
    # fc1 with bias, act, fc2, loss; its gradient, fc2 twice in one kernel.
    before = fc1 + elementwise(memory, hidden) + elementwise(memory, 2 * hidden)
    before += 3 * fc2 + elementwise(memory, rows * 512 + 3 * rows)
    before += elementwise(memory, rows * 512 + rows) + 6 * gap
    # act, the weight and the bias of fc1 in one, beside the first bucket.
    beside = elementwise(memory, 3 * hidden) + fc1
    beside += elementwise(memory, hidden + 4096) + 2 * gap

    slower, volume = 1 + gamma, 512 * 4096 * 4
    stretched = latency + slower * volume / bandwidth
    if stretched < slower * beside:
        kernels = stretched + beside - stretched / slower
        bucket = stretched
    else:
        kernels = slower * beside
        moved = max(0, kernels - latency) / slower * bandwidth
        bucket = max(kernels, latency) + (volume - moved) / bandwidth
    second = latency + (4096 * 1024 + 4096) * 4 / bandwidth
    update = elementwise(memory, 3 * 4096 * 1024) + elementwise(memory, 3 * 4096)
    update += elementwise(memory, 3 * 512 * 4096) + 3 * gap
    return before + max(kernels, bucket) + second + update


def pairs(groups):
    """All-reduces of 4 MB over pairs that meet below a CPU: 10 GB/s."""
    return (8.4 + 2 * 5.7) * US + groups * 4e6 / 10e9


def pipeline():
    """Two stages below one switch (12 GB/s), two micro-batches of 4 MB."""
    forward = 8e6 / 547.7e9 + 2 * US
    backward = 12e6 / 547.7e9 + 2 * US
    message = (8.4 + 5.7) * US + 4e6 / 12e9
    return 2 * forward + 4 * message + 2 * backward


def main():
    what, arguments, report = sys.argv[1], sys.argv[2:-1], sys.argv[-1]
    if what == "mlp":
        expected = mlp(arguments[0], float(arguments[1]))
    elif what == "pairs":
        expected = pairs(int(arguments[0]))
    else:
        expected = pipeline()
    with open(report) as file:
        actual = json.load(file)["iteration_time_s"]
    # Loads of links are rounded to 1 / 65536.
    if abs(actual / expected - 1) > 2e-5:
        sys.exit(f"{what} {arguments}: expected {expected}, got {actual}")


main()
