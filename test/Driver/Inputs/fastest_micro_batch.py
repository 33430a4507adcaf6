# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the chosen micro-batch of a pipeline is as fast as the best stated one.

  fastest_micro_batch.py PROTEUS
"""
import json
import shlex
import subprocess
import sys

JOB = ("--model llama3-8b --cluster dgx-h100 --gpus 8 --tp 2 --pp 4 --global-batch 32 "
       "--seq 2048 --zero 1 --json -")


def report(*more):
    run = subprocess.run(shlex.split(sys.argv[1]) + ["simulate", *JOB.split(), *more],
                         check=True, capture_output=True)
    return json.loads(run.stdout)


times = {}
for size in (1, 2, 4, 8, 16, 32):
    one = report("--micro-batch", str(size))
    if one["memory"]["fits"]:
        times[size] = one["iteration_time_s"]
chosen = report()["iteration_time_s"]
if chosen != min(times.values()):
    sys.exit(f"chosen: {chosen}, stated: {times}")
