#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the constants of software stacks and sites to measured runs.

  scripts/calibrate_stacks.py CASES.json [STACK...] [--jobs N] [--pairs]

CASES.json has the format of docs/validation.md. The script fits each stack and site
that FITS lists. It changes one constant at a time, runs `proteus validate` with the
result, and keeps changes that reduce the loss: the mean absolute logarithm of
predicted over measured time. Errors beyond 35 % count as 35 %, so that single rows
that no model predicts do not decide. If a source has several such rows and all are
too slow, the loss leaves a bias; `bias` is then the weight of the source's mean error
in the loss. The script writes the file of the stack and prints the error before the
fit, after it, and cross-validated: for each third of the cases, the error of the
point that is best on the other two thirds, among all points that were tried.

The search starts from the bounds in FITS, or from the point that is stated there if a
search from the bounds gives a worse result. It never starts from the values in the
files, so that the same cases always give the same files. Constants that are not
fitted keep their values.

With --pairs, the search starts from the bounds even if another point is stated, and
also changes two constants at once. It takes longer, prints its result and writes no
file. The result shows how far the constants in the files depend on the path of the
search.

A constant `devices/NAME.sustained` is the share of the rate of kernels measured alone
that a device sustains in training steps, where the power of its board limits the
clock. Runs of a stack determine it best if the stack also ran on other devices,
because its own constants then can't take the place of the clock. The script writes it
to the file of the device and of boards with the same chip and power. Device files are
embedded in the binary: build again before the next fit.
"""

import argparse
import itertools
import json
import math
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROTEUS = os.path.join(ROOT, os.environ.get("BUILD_DIR", "build"), "bin", "proteus")

# By file: the groups of cases to which it is fitted, options of the fit, and its
# constants as (path, low, high). A stack has only constants that its runs can
# distinguish; the others keep their values.
FITS = {
    "stacks/megatron-deepspeed": {
        "groups": ["vtrain", "bigscience"],
        "bias": 0.2,
        # The time between steps is not fitted: the steps of these runs are long, and
        # 460 ms would fit as well as slower products and updates do. These scale with
        # the size of a job, so short steps are predicted too. The bounds of updates
        # are 30 to 250 bytes per parameter. The start is the point in use, found by
        # hand; a search from the bounds ends with longer gaps and a larger error.
        "start": [17, 1.03, 0.865, 5],
        "constants": [
            ("gaps.kernel_us", 0.1, 50),
            ("kernels.product_rate.ampere", 0.8, 1.15),
            ("kernels.product_rate.volta", 0.8, 1.15),
            ("kernels.traffic.update", 1, 8),
        ],
    },
    "sites/jean-zay-a100": {
        "groups": ["bloom"],
        "constants": [
            # The V100 runs of the same site state 40 to 57 Gb/s of 400. A share of a
            # tenth fits the times slightly better (5.1 %), but the order of
            # strategies worse.
            ("fabric_efficiency", 0.15, 1),
            ("collective_gap_us", 1, 5e3),
        ],
    },
    "sites/jean-zay-v100": {
        "groups": ["bigscience"],
        "constants": [
            ("collective_gap_us", 1, 5e3),
        ],
    },
    "sites/ultra-scale": {
        "groups": ["ultrascale"],
        # The shared network is slow at times, so the mean counts besides the median.
        "bias": 0.5,
        "constants": [
            ("fabric_efficiency", 0.2, 1),
        ],
    },
    "stacks/internevo": {
        "groups": ["internlm7b"],
        "constants": [
            ("gaps.step_us", 1e3, 2e6),
            ("kernels.traffic.elementwise", 0.7, 3),
        ],
    },
    "stacks/composer-fsdp": {
        "groups": ["llmfoundry"],
        "constants": [
            ("kernels.attention_rate.ampere", 0.1, 1.5),
            ("kernels.attention_rate.hopper", 0.1, 1.5),
            ("kernels.traffic.elementwise", 0.7, 4),
            ("kernels.traffic.loss", 0.7, 8),
            ("gaps.step_us", 1e3, 1e6),
            ("devices/H100-SXM5-80GB.sustained", 0.5, 1),
        ],
    },
    "stacks/megatron-lm": {
        "groups": ["simumax"],
        "constants": [
            ("host.kernel_us", 1, 200),
            ("host.collective_us", 1, 1000),
            ("kernels.traffic.permute", 0.5, 16),
            # The update also zeroes, measures and clips gradients.
            ("kernels.traffic.update", 1, 3),
            ("devices/B200-SXM6-180GB.sustained", 0.5, 1),
        ],
    },
    "stacks/nanotron": {
        "groups": ["ultrascale"],
        "bias": 0.2,
        "finest": 1.2,  # runs scatter too much for smaller steps
        # A search from the bounds explains all errors by messages of 20 ms.
        "start": [70, 75, 1000, 1700, 0.2, 2, 4, 40000],
        "constants": [
            ("host.kernel_us", 1, 300),
            ("host.collective_us", 1, 2000),
            ("host.message_us", 1, 20000),
            ("host.pause_us", 100, 10000),
            ("host.pause_share", 0.02, 0.5),
            ("kernels.traffic.elementwise", 0.7, 4),
            ("kernels.traffic.update", 0.7, 8),
            ("gaps.step_us", 1e3, 1e6),
        ],
    },
    "stacks/pytorch-ddp": {
        "groups": ["dle"],
        "constants": [
            ("host.kernel_us", 5, 60),
            ("kernels.traffic.elementwise", 0.8, 2),
            ("kernels.traffic.update", 1, 6),
            ("gaps.step_us", 1e2, 1e5),
        ],
    },
    "stacks/mxnet": {
        "groups": ["dle"],
        "constants": [
            ("kernels.traffic.elementwise", 0.7, 2),
        ],
    },
    "stacks/tensorflow-xla": {
        "groups": ["dle"],
        "constants": [
            ("kernels.traffic.elementwise", 0.7, 2),
        ],
    },
    "stacks/tensorflow-1": {
        "groups": ["tf2017"],
        "constants": [
            ("kernels.traffic.elementwise", 0.7, 8),
            ("gaps.kernel_us", 1, 500),
        ],
    },
    # For unknown stacks: fitted to runs of all sources with equal weights, as if no
    # source stated its stack and site.
    "stacks/generic": {
        "groups": ["simumax", "vtrain", "llmfoundry", "bloom", "bigscience",
                   "internlm7b", "ultrascale"],
        "unknown": True,
        "finest": 1.4,
        # With wider bounds, slow stacks decide (element-wise traffic of 4), and sources
        # to which nothing is fitted are predicted 20 to 50 % too slow. Host times are
        # not fitted here: they are means of the stacks to whose runs they are fitted.
        # An operation of a model is two to three kernels of a framework, between
        # which the device is idle for 1 to 2 us each: at most 5 us per operation.
        "constants": [
            ("kernels.attention_rate.*", 0.5, 1),
            ("kernels.traffic.elementwise", 1, 2),
            ("gaps.kernel_us", 1, 5),
            ("gaps.step_us", 2e3, 2e5),
        ],
    },
}

# Generations of devices for which "*" in a path stands.
GENERATIONS = ["volta", "ampere", "hopper", "blackwell"]

# Boards with the same chip and power as a fitted board.
SAME_POWER = {"H100-SXM5-80GB": ["H200-SXM5-141GB"], "B200-SXM6-180GB": []}

WORST = math.log(1.35)
# Factors of changes of constants, in order of use.
STEPS = [4, 2, 1.4, 1.2, 1.1, 1.05, 1.02]


def put(document, path, value):
    if path.endswith(".*"):
        for generation in GENERATIONS:
            put(document, path[:-1] + generation, value)
        return
    keys = path.split(".")
    for key in keys[:-1]:
        document = document.setdefault(key, {})
    document[keys[-1]] = value


def device_of(path):
    """Returns the device if a constant is its sustained share, or None."""
    return path[len("devices/"):-len(".sustained")] if path.startswith("devices/") else None


def write_text(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)


def write_sustained(device, value):
    """Writes the share to a device file without other changes."""
    path = os.path.join(ROOT, "clusters", "devices", device + ".json")
    with open(path) as file:
        text = file.read()
    text = re.sub(r'\n  "sustained": [0-9.]+,', "", text)
    after = re.search(r'\n  "multiprocessors": [0-9]+,', text).end()
    share = "" if value == 1 else f'\n  "sustained": {value},'
    write_text(path, text[:after] + share + text[after:])


def rounded(value, path):
    """Rounds to two significant digits, the accuracy of the constants. Rates have
    three, because those near one could otherwise only be 1 or 1.1."""
    value = float(f"{value:.{3 if '_rate' in path else 2}g}")
    return int(value) if value == int(value) else value


class Fit:
    def __init__(self, name, cases, jobs, pairs=False):
        self.kind, self.name = name.split("/")
        self.path = os.path.join(ROOT, "clusters", name + ".json")
        with open(self.path) as file:
            self.document = json.load(file)
        self.spec = FITS[name]
        self.jobs = jobs
        self.pairs = pairs
        chosen = [
            case
            for case in cases
            if case["id"].split("-")[0] in self.spec["groups"]
            and case.get("quality") in ("A", "B")
        ]
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(chosen, self.file)
        self.file.flush()
        self.tried = {}

    def run(self, values):
        """Returns the logarithm of predicted over measured time by case."""
        key = tuple(values)
        if key in self.tried:
            return self.tried[key]
        document = json.loads(json.dumps(self.document))
        shares = []
        for (path, _, _), value in zip(self.spec["constants"], values):
            if device_of(path):
                shares += ["--sustained", f"{device_of(path)}={value}"]
            else:
                put(document, path, value)
        flag = "--stack" if self.kind == "stacks" else "--site"
        profile = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(document, profile)
        profile.flush()
        output = tempfile.NamedTemporaryFile("r", suffix=".json")
        # Only cases that state this framework or site use it.
        whom = (["--site", "none"] if self.spec.get("unknown")
                else ["--only-where", self.name])
        subprocess.run(
            [PROTEUS, "validate", self.file.name, flag, profile.name, *whom, "--jobs", str(self.jobs), "--json", output.name] + shares,
            check=True, stdout=subprocess.DEVNULL)
        errors = {
            case["id"]: math.log(1 + case["error"])
            for case in json.load(open(output.name))["cases"]
            if case["error"] is not None
        }
        self.tried[key] = errors
        return errors

    def loss(self, errors):
        """Returns the loss for logarithms by case."""
        kept = {i: max(-WORST, min(WORST, e)) for i, e in errors.items()}
        by_group = [[e for i, e in kept.items() if i.split("-")[0] == group]
                    for group in self.spec["groups"]]
        by_group = [group for group in by_group if group]
        if self.spec.get("unknown"):
            return sum(sum(map(abs, g)) / len(g) for g in by_group) / len(by_group)
        bias = self.spec.get("bias", 0) * sum(abs(sum(g)) for g in by_group)
        return (sum(map(abs, kept.values())) + bias) / len(kept)

    def start(self):
        """Returns the stated start, or else times at the logarithmic middle of their
        bounds, and factors at 1, their value for no loss of rate and no additional
        traffic."""
        if "start" in self.spec and not self.pairs:
            return list(self.spec["start"])
        return [rounded((low * high) ** 0.5 if path.endswith("_us") else
                        min(max(1, low), high), path)
                for path, low, high in self.spec["constants"]]

    def moves(self, factor):
        """Yields changes: the factors of simultaneously changed constants, by number."""
        numbers = range(len(self.spec["constants"]))
        both = (factor, 1 / factor)
        for i in numbers:
            yield from ({i: step} for step in both)
        if self.pairs:
            for i, j in itertools.combinations(numbers, 2):
                yield from ({i: a, j: b} for a in both for b in both)

    def moved(self, values, move):
        trial = list(values)
        for i, step in move.items():
            path, low, high = self.spec["constants"][i]
            trial[i] = rounded(min(max(values[i] * step, low), high), path)
        return trial

    def search(self):
        """Repeats each change as long as it reduces the loss, with ever smaller
        factors. Returns the best values."""
        values = self.start()
        best = self.loss(self.run(values))
        for factor in (f for f in STEPS if f >= self.spec.get("finest", 1)):
            improved = True
            while improved:
                improved = False
                for move in self.moves(factor):
                    while True:
                        trial = self.moved(values, move)
                        loss = self.loss(self.run(trial))
                        if loss >= best - 1e-5:
                            break
                        values, best, improved = trial, loss, True
        return values

    def crossValidated(self):
        ids = sorted(next(iter(self.tried.values())))
        errors = []
        for fold in range(3):
            test = ids[fold::3]
            train = [i for i in ids if i not in set(test)]
            point = min(self.tried.values(),
                        key=lambda run: self.loss({i: run[i] for i in train}))
            errors += [abs(math.exp(point[i]) - 1) for i in test]
        return sum(errors) / len(errors)

    def leftOut(self):
        """Returns the mean error of each source at the point that is best for the other
        sources."""
        result = {}
        for left in self.spec["groups"]:
            def others(run):
                return self.loss({i: e for i, e in run.items()
                                  if i.split("-")[0] != left})
            point = min(self.tried.values(), key=others)
            result[left] = mean([e for i, e in point.items()
                                 if i.split("-")[0] == left])
        return result

    def write(self, values):
        for (path, _, _), value in zip(self.spec["constants"], values):
            device = device_of(path)
            if device:
                for board in [device] + SAME_POWER[device]:
                    write_sustained(board, value)
            else:
                put(self.document, path, value)
        write_text(self.path, json.dumps(self.document, indent=2) + "\n")


def mean(errors):
    return sum(abs(math.exp(e) - 1) for e in errors) / len(errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases")
    parser.add_argument("names", nargs="*", help="stacks/NAME or sites/NAME")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pairs", action="store_true",
                        help="search from the middle, by pairs too; write nothing")
    arguments = parser.parse_args()
    with open(arguments.cases) as file:
        cases = json.load(file)
    cases = cases if isinstance(cases, list) else cases["cases"]
    for name in arguments.names or FITS:
        fit = Fit(name, cases, arguments.jobs, arguments.pairs)
        values = fit.search()
        first = next(iter(fit.tried.values()))
        final = fit.tried[tuple(values)]
        if not arguments.pairs:
            fit.write(values)
        print(f"{name}: {len(final)} cases, {len(fit.tried)} points; mean error "
              f"{100 * mean(first.values()):.1f} % -> {100 * mean(final.values()):.1f} %, "
              f"loss {fit.loss(final):.4f}, cross-validated {100 * fit.crossValidated():.1f} %")
        for (path, _, _), value in zip(fit.spec["constants"], values):
            print(f"  {path} = {value}")
        if fit.spec.get("unknown"):
            left = fit.leftOut()
            print("  left out: " + ", ".join(f"{group} {100 * error:.1f} %"
                                             for group, error in left.items()) +
                  f"; mean {100 * sum(left.values()) / len(left):.1f} %")


if __name__ == "__main__":
    main()
