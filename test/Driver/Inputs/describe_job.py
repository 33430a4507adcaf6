# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the parameters, the inputs and the tree of a module that `proteus emit` wrote."""
import math
import re
import sys

text = open(sys.argv[1]).read()
arguments = text[text.index("func.func"):text.index("\n", text.index("func.func"))]
shapes = re.findall(r"tensor<([\dx]+)x\w+> \{nn\.path = \"([^\"]+)\", nn\.role = \"(\w+)\"", arguments)
parameters = sum(math.prod(map(int, shape.split("x")))
                 for shape, _, role in shapes if role == "parameter")
print("parameters", parameters)
print("ids", *(shape for shape, path, _ in shapes if path == "ids"))
tree = text[text.index("strategy.tree"):]
for line in tree.splitlines()[1:]:
    if line.strip().startswith(("node", "}")):
        break
    print(line.strip())
