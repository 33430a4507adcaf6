# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module without its strategy trees: without_tree.py FILE"""

import sys

depth = 0
for line in open(sys.argv[1]):
    if depth == 0 and line.lstrip().startswith("strategy.tree"):
        depth = line.count("{") - line.count("}")
        continue
    if depth > 0:
        depth += line.count("{") - line.count("}")
        continue
    print(line, end="")
