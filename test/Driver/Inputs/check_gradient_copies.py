# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients that a stack keeps beside those of the model, for a GPT-2 of two layers
on one device.

  check_gradient_copies.py NONE DUMMY MASTER WIDE
"""

import json
import sys


def owners(path):
    """Bytes by owner, of the first device that says them."""
    def find(value):
        if isinstance(value, dict):
            if "memory_by_owner_bytes" in value:
                return value["memory_by_owner_bytes"]
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                if found := find(one):
                    return found
        return None
    with open(path) as file:
        return find(json.load(file))


def main():
    none, dummy, master, wide = map(owners, sys.argv[1:])
    # One of each shape in bf16: tokens, positions, qkv, proj, fc1, fc2.
    h, vocab = 768, 50257
    shapes = h * (vocab + 1024 + 3 * h + h + 4 * h + 4 * h)
    assert dummy["gradients"] - none["gradients"] == 2 * shapes, (none, dummy)
    # Gradients of the model and those of the optimizer, in f32.
    assert (master["gradients"] - none["parameters"]
            == none["master_weights"] > 0), (none, master)
    # Those that accumulate in f32 are the optimizer's already.
    assert wide["gradients"] == master["gradients"], (wide, master)


main()
