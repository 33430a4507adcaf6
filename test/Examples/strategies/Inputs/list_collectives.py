# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the collectives of a report, one per line: kind, axes, bytes of a
buffer, number per device and step. And the activations that each stage holds at
its peak."""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
for entry in report["collectives"]:
    print("%s over %s: %d bytes, %d per device" % (
        entry["kind"], entry["axes"], entry["bytes"],
        entry["count_per_device"]))
for stage in report["stages"]:
    print("stage %d: %d bytes of activations" % (
        stage["stage"], stage["memory_by_owner_bytes"]["activations"]))
print("end")
