"""Checks the memory of sharded jobs: check_zero.py PROTEUS."""

import json
import subprocess
import sys


def needed(flags):
    """Returns the needed bytes of the job with these flags."""
    command = [sys.argv[1], "simulate", *flags.split(), "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["memory"]["needed_bytes"]


# The memory of ZeRO-3 never grows with the number of devices.
sizes = [needed("--model llama3-8b --cluster dgx-h100 --zero 3 --seq 8192 "
                f"--micro-batch 1 --gpus {n} --global-batch {n}")
         for n in (8, 64, 512, 1024, 4096, 16384)]
assert sizes == sorted(sizes, reverse=True), sizes

# Gradients of ZeRO-2 that wait for a slow network do not pile up.
few, many = (needed("--model deepseek-v2-lite --cluster dgx-h200:2 --gpus 16 "
                    f"--micro-batch 1 --seq 1024 --zero 2 --accumulation {n}")
             for n in (1, 16))
assert many < 1.01 * few, (few, many)
