#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks reports of one model by how far ahead parameters are gathered.

  check_prefetch.py DEPTH0 DEPTH1 DEPTH2 ...   ascending depths
  check_prefetch.py --same REPORT REPORT       time and memory are equal
"""

import json
import sys

same = sys.argv[1] == "--same"
reports = []
for path in sys.argv[2 if same else 1 :]:
    with open(path) as file:
        reports.append(json.load(file))
times = [report["iteration_time_s"] for report in reports]
peaks = [report["peak_memory_bytes"] for report in reports]
gathered = [
    report["peak_memory"]["memory_by_owner_bytes"]["communication"]
    for report in reports
]
if same:
    good = len(set(times)) == 1 and len(set(peaks)) == 1
else:
    # Nothing is hidden on demand; one layer ahead hides what can be hidden. What
    # comes further ahead is launched in front of the first kernel of each pass,
    # which waits for the host.
    launches = 2 * 2.5e-6 * 2
    good = times[0] > times[1] + 1e-4
    good &= all(abs(time - times[1]) <= launches for time in times[2:])
    # Each layer ahead is one more buffer of a whole weight.
    good &= all(a < b for a, b in zip(peaks, peaks[1:]))
    weight = 4096 * 4096 * 2
    good &= gathered[:3] == [weight, 2 * weight, 3 * weight]
if not good:
    print("times", times, "peaks", peaks, "gathered", gathered)
    sys.exit(1)
