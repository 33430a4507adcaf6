# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what is gathered in bf16, in fp8, and in fp8 with converted parameters."""

import json
import sys


def gathered(path, axis):
    return sorted({c["bytes"] for c in json.load(open(path))["collectives"]
                   if c["kind"] == "all_gather" and c["axes"] == axis})


wide, narrow, parameters = sys.argv[1:]
hidden = 8192 * 4096
# The head reads its input as it is.
assert gathered(wide, "tp") == [2 * hidden], gathered(wide, "tp")
assert gathered(narrow, "tp") == [hidden, 2 * hidden], gathered(narrow, "tp")
assert gathered(wide, "dp") == gathered(narrow, "dp")
# Norms, embedding and head stay; matrices of layers shrink.
full, half = gathered(wide, "dp"), gathered(parameters, "dp")
matrices = [4096 * n for n in (4096, 1024, 14336)]
for matrix in matrices:
    assert matrix in full and matrix // 2 in half and matrix not in half, (matrix, full, half)
