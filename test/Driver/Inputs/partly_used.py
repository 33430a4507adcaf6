# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares jobs on a partly used last node with the same jobs on a cluster whose last node
has only these devices, with all ranks simulated, and with the emitted module.

  partly_used.py PROTEUS PROTEUS_OPT DIRECTORY
"""
import json
import os
import shlex
import subprocess
import sys

proteus, opt, directory = sys.argv[1:]


def figures(arguments):
    path = os.path.join(directory, "report.json")
    subprocess.run(shlex.split(proteus) + ["simulate", "--model", "gpt2", "--json", path, *arguments],
                   check=True, capture_output=True)
    return read(path)


def read(path):
    with open(path) as file:
        report = json.load(file)
    return report["iteration_time_s"], report["memory"]["needed_bytes"]


def without_devices(count):
    """Writes a cluster of two nodes, the last one with `count` devices and cards."""
    with open(os.path.join(directory, "ours.json")) as file:
        cluster = json.load(file)
    full = cluster.pop("node")
    pairs = [list(range(i, min(i + 2, count))) for i in range(0, count, 2)]
    cpu = {"vendor": "intel", "model": 143,
           "switches": [{"devices": pair, "nics": pair} for pair in pairs]}
    part = {"devices": count, "nvlink": full["nvlink"], "host": full["host"],
            "nics": {"count": count, "speed_gbit": 400},
            "pcie": {"generation": 5, "width": 16, "cpus": [cpu]}}
    cluster["node_kinds"] = {"full": full, "part": part}
    cluster["nodes"] = [{"kind": "full", "count": 1}, {"kind": "part", "count": 1}]
    path = os.path.join(directory, f"part{count}.json")
    with open(path, "w") as file:
        json.dump(cluster, file)
    return path


def check(name, got, wanted):
    if got != wanted:
        sys.exit(f"{name}: {got} instead of {wanted}")


for gpus, flags in [
    (9, []),
    (11, ["--zero", "1"]),
    (14, ["--zero", "3"]),
    (12, ["--tp", "4", "--pp", "3", "--accumulation", "3"]),
    (12, ["--pp", "4", "--accumulation", "4"]),
    (12, ["--cp", "2", "--tp", "2"]),
]:
    job = ["--gpus", str(gpus), "--seq", "512", "--micro-batch", "2", *flags]
    name = " ".join(job)
    folded = figures(["--cluster", "dgx-h100", *job])
    check(name + " unfolded", figures(["--cluster", "dgx-h100", "--fold", "none", *job]), folded)
    check(name + " on smaller nodes", figures(["--cluster", without_devices(gpus - 8), *job]), folded)
    module = os.path.join(directory, "emitted.mlir")
    subprocess.run(shlex.split(proteus) + ["emit", "--model", "gpt2", "--cluster", "dgx-h100", *job,
                                           "--output", module], check=True, capture_output=True)
    report = os.path.join(directory, "emitted.json")
    subprocess.run([opt, "--lower-strategy", f"--simulate=report={report}", module, "-o", os.devnull],
                   check=True, capture_output=True)
    check(name + " emitted", read(report), folded)
