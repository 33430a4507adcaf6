#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the memory of sharded parameters with closed forms.

Simulates Llama 3 8B with 8-way tensor parallelism for data-parallel degrees 1 to 512
and ZeRO stages 1 to 3, in the forms in which frameworks cut tensors, and compares the
memory of parameters, gradients, optimizer states and master weights on a device with
the closed form of the framework. Nothing of Proteus computes the closed forms. Fails
if a sum differs by more than 0.1 %.

  scripts/zero_memory.py            40 jobs, chosen by a fixed seed
  scripts/zero_memory.py --all      all degrees, stages and forms
  PROTEUS=build/bin/proteus selects the program.
"""

import json
import math
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TP = 8
HIDDEN, FFN, LAYERS, VOCAB, KV = 4096, 14336, 32, 128256, 1024
# Bytes of an element: parameters in bf16; gradients, master weights and the two
# moments of Adam in f32.
PARAMETER, GRADIENT, STATE, MASTER = 2, 4, 8, 4


def layer():
    """Returns the shapes of one layer on a tensor-parallel rank."""
    return [
        (HIDDEN,), (HIDDEN // TP, HIDDEN), (KV // TP, HIDDEN), (KV // TP, HIDDEN),
        (HIDDEN, HIDDEN // TP), (HIDDEN,), (FFN // TP, HIDDEN), (FFN // TP, HIDDEN),
        (HIDDEN, FFN // TP),
    ]


def units():
    """Returns the shapes of the embedding, of each layer, and of norm and head."""
    return ([[(VOCAB // TP, HIDDEN)]] + [layer()] * LAYERS +
            [[(HIDDEN,), (VOCAB // TP, HIDDEN)]])


def size(shape):
    return math.prod(shape)


def up(value, multiple):
    return -(-value // multiple) * multiple


def whole():
    return sum(size(shape) for unit in units() for shape in unit)


# Elements that a rank stores of a tensor that is cut over dp ranks, and of the same
# tensors with ZeRO-3 in storage. The forms follow the frameworks:
def deepspeed(dp):
    """One list of all parameters, padded to 2 * dp elements (stages 1 and 2)."""
    return up(whole(), 2 * dp) // dp


def deepspeed3(dp):
    """Every parameter by itself, padded to dp elements (stage 3)."""
    return sum(up(size(shape), dp) // dp for unit in units() for shape in unit)


def megatron(dp):
    """Buckets of at least 40 M elements, padded to a common multiple of dp and 128.

    Each parameter begins at a multiple of 64 elements."""
    multiple = math.lcm(dp, 128)
    bucket = max(40_000_000, 1_000_000 * dp)
    total = filled = 0
    for unit in reversed(units()):
        for shape in reversed(unit):
            filled = up(filled, 64) + size(shape)
            if filled >= bucket:
                total += up(filled, multiple)
                filled = 0
    return (total + up(filled, multiple)) // dp


def fsdp1(dp):
    """One list per unit, padded to dp elements."""
    return sum(up(sum(size(shape) for shape in unit), dp) // dp for unit in units())


def fsdp2(dp):
    """Rows of dimension 0 of every parameter; the first ranks hold the most."""
    return sum(-(-shape[0] // dp) * size(shape[1:]) for unit in units()
               for shape in unit)


def small(limit):
    """Returns the elements of parameters with at most `limit` elements."""
    return sum(size(shape) for unit in units() for shape in unit
               if size(shape) <= limit)


PERSIST = 100_000
# name, stages, elements on a rank, flags
FORMS = [
    ("deepspeed", (1, 2), deepspeed, []),
    ("deepspeed3", (3,), deepspeed3, ["--zero-persist", str(PERSIST)]),
    ("megatron", (1,), megatron, []),
    ("fsdp1", (2, 3), fsdp1, []),
    ("fsdp2", (2, 3), fsdp2, ["--zero-shards", "rows"]),
]


def expected(form, stage, dp):
    """Returns the bytes of parameters, gradients, states and master weights."""
    name, _, elements, _ = form
    part = elements(dp)
    parameters = whole() if stage < 3 else part
    if name == "deepspeed3":
        # Small parameters stay whole on every device, instead of their part.
        parameters += small(PERSIST) - sum(
            up(size(shape), dp) // dp for unit in units() for shape in unit
            if size(shape) <= PERSIST)
    gradients = part if stage >= 2 else whole()
    return (PARAMETER * parameters + GRADIENT * gradients +
            (STATE + MASTER) * part)


def simulate(job):
    form, stage, dp = job
    command = [
        os.environ.get("PROTEUS", "build/bin/proteus"), "simulate", "--model",
        "llama3-8b", "--cluster", "dgx-h100", "--gpus", str(TP * dp), "--tp", str(TP),
        "--sp", "--zero", str(stage), "--micro-batch", "1", "--accumulation", "1",
        "--stack", "none", "--json", "-"
    ] + form[3]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return job, None, run.stderr
    memory = json.loads(run.stdout)["stages"][0]["memory_by_owner_bytes"]
    return job, sum(memory[owner] for owner in (
        "parameters", "gradients", "optimizer_state", "master_weights")), ""


def main():
    jobs = [(form, stage, dp) for form in FORMS for stage in form[1]
            for dp in range(1, 513)]
    if sys.argv[1:] != ["--all"]:
        jobs = random.Random(19).sample(jobs, 40)
    worst, failed = 0, 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, measured, error in pool.map(simulate, jobs):
            (name, *_), stage, dp = job
            if measured is None:
                print(f"{name} stage {stage} dp {dp}: {error.strip()}")
                failed += 1
                continue
            difference = measured / expected(*job) - 1
            if abs(difference) > abs(worst):
                worst = difference
            if abs(difference) > 0.001:
                print(f"{name} stage {stage} dp {dp}: {measured} bytes, closed form "
                      f"{expected(*job)} ({difference:+.3%})")
                failed += 1
    print(f"{len(jobs)} jobs, {failed} differ; largest difference {worst:+.4%}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
