#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records or checks the results of the examples, the published cases and the
reference runs.

  scripts/goldens.py            fails if a result differs from test/goldens.json
  scripts/goldens.py --record   writes test/goldens.json
  scripts/goldens.py --cases CASES.json
                                prints a hash per case of another file

A result is the JSON that the tool writes, with its keys sorted and without prose
(notes, reasons, assumptions) and times of the tool itself. The file holds its hash and a few figures, so that
a difference can be read. A refactoring leaves every line as it is; a change of
the model records them again, and its commit explains the difference.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(os.environ.get("PROTEUS_BIN", ROOT / os.environ.get("BUILD_DIR", "build") / "bin"))
GOLDENS = ROOT / "test" / "goldens.json"
# Keys of prose, and the time that the tool itself took.
IGNORED = {"note", "notes", "knobs", "reason", "assumed", "first_failure", "remarks", "cpu_s"}
FIGURES = ["iteration_time_s", "peak_memory_bytes", "fits", "events"]
MAX_SECONDS = 600 # for one command
# Jobs verify the IR after each pass.
ENVIRONMENT = {**os.environ, "PROTEUS_VERIFY_EACH": "1"}


def canonical(value):
    """Returns `value` without the ignored keys."""
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items() if key not in IGNORED}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return value


def digest(value):
    """Returns a short hash of the canonical JSON of `value`."""
    text = json.dumps(canonical(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run(*command):
    """Runs a command with a JSON file for its result and returns that result;
    `@` stands for the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        words = [str(word).replace("@", path, 1) if "@" in str(word) else str(word)
                 for word in command]
        subprocess.run(words, check=True, timeout=MAX_SECONDS, env=ENVIRONMENT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(path) as file:
            return json.load(file)


def example_results():
    """Yields the name and the entry of every example."""
    for path in sorted((ROOT / "examples").rglob("*.mlir")):
        report = run(BIN / "proteus-opt", "--lower-strategy", "--simulate=report=@",
                     path, "-o", os.devnull)
        entry = {key: report[key] for key in FIGURES if key in report}
        yield f"examples/{path.relative_to(ROOT / 'examples')}", {"hash": digest(report), **entry}


def case_results(path, *flags):
    """Yields the name and the entry of every case of a file."""
    for case in run(BIN / "proteus", "validate", path, "--json", "@", *flags)["cases"]:
        yield case["id"], {"hash": digest(case),
                           "iteration_time_s": case["predicted_iteration_time_s"]}


def results():
    """Returns all entries by name."""
    found = dict(example_results())
    for path in sorted((ROOT / "validation").glob("*.json")):
        for name, entry in case_results(path):
            found[f"validation/{path.name}: {name}"] = entry
    for row in run(BIN / "proteus", "parity", "--json", "@")["runs"]:
        found[f"parity: {row['cluster']} {row['id']}"] = {
            "hash": digest(row), "iteration_time_ms": row["ours"]["iter_ms"]}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--cases", metavar="CASES.json")
    options = parser.parse_args()
    if options.cases:
        for name, entry in case_results(options.cases, "--jobs", "2"):
            print(name, entry["hash"])
        return 0
    found = results()
    if options.record:
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}"
                           for name, entry in sorted(found.items()))
        GOLDENS.write_text("{\n" + lines + "\n}\n")
        return 0
    stored = json.loads(GOLDENS.read_text())
    differ = 0
    for name in sorted(stored.keys() | found.keys()):
        if stored.get(name) != found.get(name):
            print(f"{name}: stored {stored.get(name)}, now {found.get(name)}")
            differ += 1
    print(f"{len(found)} results, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
