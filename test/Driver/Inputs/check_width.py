# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulates all examples and all presets. A line of a summary has at most 100
characters, and reports follow the schema.

  check_width.py ROOT PROTEUS PROTEUS-OPT PLACE
"""

import subprocess
import sys
from pathlib import Path

LIMIT = 100
root, proteus, opt, place = map(Path, sys.argv[1:])
sys.path.insert(0, str(root / "test/Driver/Inputs"))
import check_schema


def summary(*command):
    """Runs a command, checks the lines that it prints, and returns them."""
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    lines = result.stdout.splitlines()
    for line in lines:
        assert len(line) <= LIMIT, (command, line)
    return lines


place.mkdir(parents=True, exist_ok=True)
reports = []
for example in sorted((root / "examples").rglob("*.mlir")):
    reports.append(place / f"{len(reports)}.json")
    lines = summary(opt, "--lower-strategy", f"--simulate=summary report={reports[-1]}",
                    example, "-o", "/dev/null")
    assert lines[0].startswith(("fits (", "does not fit (")), (example, lines[0])
listing = subprocess.run([proteus, "list", "models"], capture_output=True, text=True,
                         check=True)
names = [line.split()[0] for line in listing.stdout.splitlines()[1:]]
assert len(names) > 50, names
for name in names:
    reports.append(place / f"{len(reports)}.json")
    summary(proteus, "simulate", "--model", name, "--cluster", "dgx-h100", "--gpus", "8",
            "--micro-batch", "8", "--json", reports[-1])
    summary(proteus, "memory", "--model", name, "--cluster", "dgx-h100", "--gpus", "8")
check_schema.main(root / "docs/report.schema.json", *reports)
