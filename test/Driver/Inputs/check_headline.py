# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors that the README names are those of docs/accuracy.md.

  check_headline.py README.md docs/accuracy.md
"""

import re
import sys

NAMES = {"simumax": r"(\S+) % on the SimuMax", "internlm7b": r"(\S+) % InternLM",
         "llmfoundry": r"(\S+) % llm-foundry", "bloom": r"(\S+) % BLOOM",
         "vtrain": r"(\S+) % vTrain", "bigscience": r"(\S+) % BigScience",
         "ultrascale": r"(\S+) % Ultra-Scale",
         "**all LLM sources**": r"step time is (\S+) %"}


def main():
    readme = " ".join(open(sys.argv[1]).read().split())
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in open(sys.argv[2]) if line.startswith("|")]
    errors = {row[0]: row[4].strip("*") for row in rows if len(row) == 10}
    unknown = {row[0]: row[9] for row in rows if len(row) == 10}
    for source, pattern in NAMES.items():
        said = re.search(pattern, readme)
        assert said and said[1] == errors[source], (source, said, errors[source])
    # Sources that nothing is fitted to: runs, and the smallest and largest error.
    held = [row for row in rows if len(row) == 7 and row[1].isdigit()]
    said = re.search(r"(\d+) published runs that no constant was fitted to .*? by "
                     r"(\S+) to (\S+) %", readme)
    found = [sum(int(row[1]) for row in held)] + [
        limit(float(row[3]) for row in held) for limit in (min, max)]
    assert said and [float(n) for n in said.groups()] == found, (said, found)
    said = re.search(r"never fitted is off by (\S+) %", readme)
    assert int(said[1]) == round(float(unknown["**all LLM sources**"])), said[0]


main()
