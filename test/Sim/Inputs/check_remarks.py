#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that remarks about communication and a report tell the same.

  check_remarks.py REMARKS REPORT

Of every kind and size the remarks have to name as many executions per device as the
report, and not more time: a remark tells what one execution takes alone.
"""

import json
import re
import sys
from collections import defaultdict

REMARK = re.compile(
    r"remark: .* (?P<op>dist\.\w+) \| Category:proteus-simulate \| "
    r'Function=(?P<program>\w+) \| Algorithm="(?P<algorithm>[^"]+)", '
    r'Bytes=(?P<bytes>\d+), Collective="(?P<kind>\w+) over (?P<axes>[^"]+)", '
    r"Count=(?P<count>\d+), .*TimeUs=(?P<time>[0-9.]+)"
)


def main(remarks, report):
    counts = defaultdict(lambda: defaultdict(int))
    times = defaultdict(lambda: defaultdict(float))
    for line in open(remarks):
        remark = REMARK.search(line)
        # Both ends of a message have one.
        if not remark or remark["op"] == "dist.recv":
            continue
        row = (remark["kind"], remark["axes"], int(remark["bytes"]))
        counts[row][remark["program"]] += int(remark["count"])
        times[row][remark["program"]] += int(remark["count"]) * float(remark["time"])
    told = {row: max(programs.values()) for row, programs in counts.items()}
    rows = json.load(open(report))["collectives"]
    known = {
        (row["kind"], row["axes"], row["bytes"]): row["count_per_device"]
        for row in rows
    }
    if not rows or told != known:
        print(f"remarks: {told}\nreport:  {known}")
        return 1
    for row in rows:
        alone = max(times[row["kind"], row["axes"], row["bytes"]].values())
        # Remarks are in whole nanoseconds.
        rounding = 0.0005 * row["count_per_device"]
        if row["time_s"] * 1e6 < alone - rounding:
            print(f"{row} takes less than alone: {alone} us")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
