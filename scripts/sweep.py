#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates every model of the library on every cluster preset, and a few large
jobs. Fails if a job crashes, is rejected, or exceeds the limits of CPU time or
memory. Prints the most expensive jobs.

  scripts/sweep.py                      everything, one job at a time: minutes
  scripts/sweep.py --models 'llama*'    only the models that match
  scripts/sweep.py --large              only the large jobs
  scripts/sweep.py --seconds 1 --megabytes 200
"""

import argparse
import fnmatch
import os
import subprocess
import sys
import tempfile

# Flags of every model on one node of every cluster: each device has all parameters,
# and the optimizer states are sharded.
NODE = ["--zero", "1"]
# Jobs of published sizes.
LARGE = [
    "--model llama3-405b --cluster dgx-h100 --gpus 16384 --tp 8 --pp 16 --zero 1"
    " --sequence-parallel --seq 8192 --global-batch 2048",
    "--model llama3-405b --cluster dgx-h100 --gpus 16384 --tp 8 --pp 16 --cp 16"
    " --zero 1 --seq 131072 --global-batch 128",
    "--model llama3-405b --cluster dgx-h100 --gpus 16384 --tp 8 --pp 16 --vpp 7"
    " --schedule interleaved --zero 1 --sequence-parallel --seq 8192"
    " --set layers=112 --global-batch 2048",
    "--model llama3-405b --cluster dgx-h100 --gpus 16384 --zero 3 --recompute full"
    " --seq 8192 --global-batch 16384",
    "--model deepseek-v3 --cluster dgx-h100 --gpus 2048 --pp 16 --ep 64 --zero 1"
    " --seq 4096 --global-batch 15360",
    "--model deepseek-v3 --cluster dgx-h100 --gpus 2048 --pp 16 --ep 8 --zero 1"
    " --recompute full --seq 4096 --global-batch 3840",
    "--model gpt3-175b --cluster dgx-a100 --gpus 1024 --tp 8 --pp 8 --zero 1"
    " --global-batch 1536",
    "--model gpt3-175b --cluster dgx-a100 --gpus 1024 --tp 8 --pp 8 --vpp 12"
    " --schedule interleaved --recompute selective --global-batch 1536",
    "--model gpt3-175b --cluster dgx-h100 --gpus 1024 --tp 8 --pp 8"
    " --schedule zero-bubble --zero 1 --global-batch 1536",
    "--model llama3-70b --cluster gb200-nvl72 --gpus 4608 --tp 8 --pp 4 --zero 1"
    " --seq 8192 --global-batch 1152",
    "--model resnet50 --cluster dgx-a100 --gpus 4096 --micro-batch 32",
    "--model dlrm-criteo-large --cluster dgx-a100 --gpus 16 --place-tables"
    " --optimizer sgd --micro-batch 4096",
]


def names(proteus, what):
    """Returns the rows of a table of `proteus list`, split into words."""
    lines = subprocess.run([proteus, "list", what], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    # The table ends at the first empty line.
    end = lines.index("") if "" in lines else len(lines)
    return [line.split() for line in lines[1:end]]


class Run:
    """One simulation: its output, CPU time and memory."""

    def __init__(self, proteus, arguments, seconds):
        self.arguments = arguments
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            # Stop at ten times the allowed time: more time changes no verdict.
            child = subprocess.Popen(
                ["timeout", str(int(10 * seconds) + 1), proteus, "simulate",
                 *arguments],
                stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            self.out = out.read().decode(errors="replace")
            self.err = err.read().decode(errors="replace")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss * 1024 / 1e6

    def wrong(self):
        """Returns the reason for a failure; empty if the run printed its figures."""
        if self.code == 0:
            return "" if "iteration time" in self.out else "prints no figures"
        lines = [line for line in self.err.splitlines() if "error:" in line]
        if self.code == 124:
            return "took too long and was ended"
        if self.code != 1 or len(lines) != 1:
            return f"ended with {self.code}: {self.err.strip()[-200:]}"
        return lines[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--proteus", default=os.path.join(
        os.environ.get("BUILD_DIR", "build"), "bin", "proteus"))
    parser.add_argument("--models", default="*")
    parser.add_argument("--clusters", default="*")
    parser.add_argument("--large", action="store_true",
                        help="only the large jobs")
    parser.add_argument("--seconds", type=float, default=0.5,
                        help="CPU time that a job may take")
    parser.add_argument("--megabytes", type=float, default=500,
                        help="memory that a job may take")
    given = parser.parse_args()

    jobs = []
    if not given.large:
        clusters = [(row[0], int(row[2]))
                    for row in names(given.proteus, "clusters")
                    if fnmatch.fnmatch(row[0], given.clusters)]
        for row in names(given.proteus, "models"):
            if fnmatch.fnmatch(row[0], given.models):
                jobs += [["--model", row[0], "--cluster", cluster, "--gpus",
                          str(gpus), *NODE] for cluster, gpus in clusters]
    if given.large or given.models == given.clusters == "*":
        jobs += [job.split() for job in LARGE]

    runs, failures, over = [], [], []
    for i, job in enumerate(jobs):
        if sys.stderr.isatty():
            print(f"\rsweep: {i + 1} of {len(jobs)}", end="", file=sys.stderr)
        run = Run(given.proteus, job, given.seconds)
        runs.append(run)
        if run.wrong():
            failures.append(run)
        if run.cpu > given.seconds or run.megabytes > given.megabytes:
            over.append(run)
    if sys.stderr.isatty():
        print(file=sys.stderr)

    def table(title, list_of_runs):
        print(f"\n{title}\n  CPU (s)  memory (MB)  job")
        for run in list_of_runs:
            print(f"  {run.cpu:7.3f}  {run.megabytes:11.1f}  "
                  + " ".join(run.arguments))

    table("the longest", sorted(runs, key=lambda run: -run.cpu)[:12])
    table("the largest", sorted(runs, key=lambda run: -run.megabytes)[:6])
    for run in failures:
        print("\nfailed:", " ".join(run.arguments), "\n ", run.wrong())
    total = sum(run.cpu for run in runs)
    print(f"\n{len(runs)} jobs, {total:.1f} s: {len(failures)} failed, "
          f"{len(over)} took more than {given.seconds:g} s or "
          f"{given.megabytes:g} MB")
    return 1 if failures or over else 0


if __name__ == "__main__":
    sys.exit(main())
