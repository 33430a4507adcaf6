# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the time of experts in reports.

check_expert_time.py REPORT...          all within a tenth of the first
check_expert_time.py write CASES OUT    a case of experts on all devices
"""
import json
import re
import sys


def times(report):
    found = re.findall(r"nn\.(expert_linear\w*) +([0-9.]+)", open(report).read())
    assert len(found) == 3, report
    return {name: float(time) for name, time in found}


if sys.argv[1] == "write":
    case = next(c for c in json.load(open(sys.argv[2])) if c["id"] == "nemo2502-b200-mixtral-8x7b")
    case["id"] = "x-1"
    case["hardware"].update(gpus=8, gpus_per_node=8)
    case["model"]["layers"] = 2
    case["strategy"].update(dp=4, tp=2, pp=1, vpp=1, ep=8, sequence_parallel=True, micro_batch=1, num_microbatches=1, global_batch=4)
    json.dump([case], open(sys.argv[3], "w"))
else:
    first, *others = map(times, sys.argv[1:])
    assert others
    for other in others:
        for name, time in other.items():
            assert 0.9 < time / first[name] < 1.1, (name, time, first[name])
