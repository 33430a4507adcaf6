# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a report has as many tokens per sample as it should."""
import json
import sys

figures = {}


def collect(value):
    if isinstance(value, dict):
        figures.update(value)
        for child in value.values():
            collect(child)


with open(sys.argv[1]) as file:
    collect(json.load(file))
ratio = figures["tokens_per_s"] / figures["samples_per_s"]
assert abs(ratio / float(sys.argv[2]) - 1) < 1e-9, ratio
