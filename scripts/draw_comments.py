#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints comments of the sources, drawn at random, for a reader to judge.

  scripts/draw_comments.py [COUNT] [SEED]

Default: 60 comments of include/ and lib/, seeded with the hash of the current
commit, so that the draw is not chosen. A good comment is understood at the first
reading by an engineer who has not seen the project (docs/glossary.md).
"""

import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def comments():
    """Yields place, text and the following line of every comment."""
    for base in ("include", "lib"):
        for path in sorted((ROOT / base).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".td", ".def"}:
                continue
            block, start = [], 0
            for number, line in enumerate(path.read_text().split("\n"), 1):
                # A line that starts with `///<` continues the comment of a member.
                match = re.match(r"\s*//(?!/<)/? ?(.*)", line)
                if match and not line.startswith("//===-"):
                    if not block:
                        start = number
                    block.append(match.group(1))
                    continue
                text = "\n".join(block).strip()
                if text and "SPDX-License" not in text and "namespace" not in text:
                    yield f"{path.relative_to(ROOT)}:{start}", text, line.strip()
                block = []


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    seed = sys.argv[2] if len(sys.argv) > 2 else head.stdout.strip()
    drawn = random.Random(seed).sample(list(comments()), count)
    for place, text, code in drawn:
        print(f"{place}\n{text}\n    {code}\n")


if __name__ == "__main__":
    main()
