# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the mean absolute errors of runs that nothing is fitted to, in percent."""

import json
import sys

BOUNDS = {"megatron2022": 5.7, "torchtitan": 10, "nemo2409": 8.1, "nemo2502": 6.3,
          "nemo2504": 8.7, "nemo2511": 7.7, "megatron2021": 4, "mtnlg": 26,
          "simumax32": 3.3, "simumaxcp": 6}

errors = {}
for case in json.load(open(sys.argv[1]))["cases"]:
    assert case["supported"], case
    errors.setdefault(case["id"].split("-")[0], []).append(abs(case["error"]))
assert set(errors) == set(BOUNDS), errors.keys()
for group, values in errors.items():
    mean = 100 * sum(values) / len(values)
    assert mean < BOUNDS[group], f"{group}: {mean:.1f} %, expected less than {BOUNDS[group]}"
