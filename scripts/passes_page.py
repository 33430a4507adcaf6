#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the page of the passes, docs/passes.md.

  scripts/passes_page.py GENERATED PROTEUS

GENERATED is the page that the build writes from the definitions of the passes.
The pass apply-strategy registers its options from the table of plans, which the
definitions do not contain; this script adds them from `PROTEUS list switches`.
"""

import subprocess
import sys
from pathlib import Path

HEADING = "### `-apply-strategy`"


def plan_options(proteus):
    """Returns name and help of the options that are fields of a plan."""
    lines = subprocess.run([proteus, "list", "switches", "--markdown"],
                           capture_output=True, text=True,
                           check=True).stdout.splitlines()
    labels = [cell.strip() for cell in lines[0].strip("|").split("|")]
    for line in lines[2:]:
        row = dict(zip(labels, (cell.strip() for cell in line.strip("|").split("|"))))
        option = row["apply-strategy"].strip("`")
        if option:
            # The words of choices are only in docs/switches.md, so that a new
            # word changes one page.
            default = f" (default: {row['default']})" if row["default"] else ""
            yield option, f"{row['meaning']}{default}"


def main():
    generated, proteus = sys.argv[1:]
    before, after = Path(generated).read_text().split(HEADING)
    description, options, rest = split_options(after)
    own = [line[1:].split(":", 1) for line in options.splitlines()]
    rows = [(name.strip(), text.strip()) for name, text in own]
    rows += plan_options(proteus)
    width = max(len(name) for name, _ in rows)
    lines = "".join(f"-{name.ljust(width)} : {text}\n" for name, text in rows)
    sys.stdout.write(before + HEADING + description + lines + rest)


def split_options(section):
    """Splits a section at the block of its options."""
    start = section.index("#### Options\n\n```\n") + len("#### Options\n\n```\n")
    end = section.index("```\n", start)
    return section[:start], section[start:end], section[end:]


if __name__ == "__main__":
    main()
