#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates jobs with repeated layers and with the layers written out.

  both_forms.py DIRECTORY PROTEUS PROTEUS-OPT

Prints what differs and fails, or prints how many jobs there are. Files go to
DIRECTORY.
"""

import json
import subprocess
import sys

PIPELINES = [
    "--tp 2 --pp 2",
    "--tp 2 --pp 2 --vpp 2 --recompute full",
    "--tp 2 --pp 2 --recompute selective --sequence-parallel",
    "--pp 2 --schedule gpipe --recompute full",
    "--pp 4 --schedule zero-bubble",
]
SHARDED = [
    "--zero 2",
    "--zero 3",
    "--zero 3 --recompute full --prefetch 2",
    "--zero 3 --zero-group 4",
    "--offload-weight --zero 3",
]
OTHERS = ["--tp 4 --recompute full", "--tp 2 --cp 2 --cp-kind ring"]
OFFLOAD = ["--offload-activation", "--offload-activation --recompute full"]
EXPERTS = ["--ep 4 --tp 2 --sequence-parallel --recompute full"]
# Tied embeddings (gpt2), a table that is reduced in front of the first layer
# (llama), norms behind the residuals (bert), experts, values and parameters that all
# layers read (t5), and zeros that recomputed layers read (transformer-xl).
JOBS = {
    "gpt2": PIPELINES + SHARDED + OTHERS + OFFLOAD,
    "llama3.2-1b": PIPELINES + SHARDED + OTHERS + OFFLOAD,
    "bert-large": PIPELINES + SHARDED[:1],
    "mixtral-8x7b": PIPELINES[1:3] + SHARDED[1:2] + EXPERTS,
    "t5-small": PIPELINES[:1] + ["--tp 2 --pp 2 --recompute full", "--zero 2"]
    + SHARDED[1:2] + OTHERS[:1] + ["--zero 3 --stack nemo"],
    "transformer-xl-base": ["--zero 3 --recompute full --micro-batch 4"],
}
# T5 has its layers in two stacks, and few of them.
DIMENSIONS = ["--set", "layers=4"]


def figures(path):
    with open(path) as file:
        report = json.load(file)
    rows = ("kind", "axes", "group_size", "bytes", "count")
    return {
        "time": report["iteration_time_ps"],
        "memory": report["peak_memory_bytes"],
        "communication": sorted(
            [row[key] for key in rows] for row in report["collectives"]
        ),
    }


def simulate(optimizer, job, report, *passes):
    subprocess.run(
        [optimizer, job, *passes, "--lower-strategy"]
        + [f"--simulate=report={report}", "-o", "/dev/null"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return figures(report)


def main(directory, driver, optimizer):
    number = differing = 0
    for model, strategies in JOBS.items():
        for strategy in strategies:
            number += 1
            job = f"{directory}/{number}.mlir"
            command = [driver, "emit", "--model", model, "--gpus", "8"]
            command += ["--cluster", "dgx-a100", "--global-batch", "32"]
            if model != "t5-small":
                command += DIMENSIONS
            with open(job, "w") as file:
                subprocess.run(command + strategy.split(), check=True, stdout=file)
            repeated = simulate(optimizer, job, f"{directory}/{number}.json")
            flat = simulate(
                optimizer, job, f"{directory}/{number}-flat.json", "--unroll-repeats"
            )
            for name, value in repeated.items():
                if value != flat[name]:
                    differing += 1
                    print(f"{model} {strategy}: {name} is {value} with repeated layers,")
                    print(f"  {flat[name]} with layers written out")
    if differing:
        return 1
    print(f"{number} jobs, the same in both forms")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
