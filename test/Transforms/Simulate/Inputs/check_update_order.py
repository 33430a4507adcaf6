#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the order in which a trace updates one parameter.

  check_update_order.py TRACE REPORT

The parameter "embedding.weight" is updated in parts, which are not the parts in
which it is stored. On every rank each step starts after the step before it ended,
because it reads its result.
"""

import json
import sys

# Operation and number of ranks in its group; the update itself runs on one rank.
STEPS = [
    ("dist.all_gather", 4),  # the old parameter, for its slice
    ("dist.all_gather", 4),  # the gradient, for its slice
    ("nn.adam", None),
    ("dist.all_to_all", 32),  # the new parameter, from rows to columns
    ("dist.all_to_all", 4),  # back to rows over tp
    ("dist.all_gather", 8),  # whole columns
]

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
with open(sys.argv[2]) as file:
    end_of_step = json.load(file)["iteration_time_s"] * 1e6

ranks = {}
for event in events:
    if event["ph"] == "X" and event["cat"] == "update" and event["name"].startswith("embedding"):
        ranks.setdefault(event["pid"], []).append(event)
if not ranks:
    sys.exit("no update of the parameter")
for rank, update in ranks.items():
    update.sort(key=lambda event: event["ts"])
    found = [(event["args"]["op"], event["args"].get("group_size")) for event in update]
    if found != STEPS:
        sys.exit(f"rank {rank}: the steps are {found}, expected {STEPS}")
    for before, after in zip(update, update[1:]):
        if after["ts"] < before["ts"] + before["dur"] - 1e-3:
            sys.exit(f"rank {rank}: {after} starts before the end of {before}")
    # Nothing runs after the last step, which ends the training step.
    last = update[-1]["ts"] + update[-1]["dur"]
    if abs(last - end_of_step) > 1e-3:
        sys.exit(f"rank {rank}: the last step ends at {last} us, the training step at {end_of_step} us")
