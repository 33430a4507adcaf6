# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two reports, except for the restated jobs: jobs in other words have the same
figures.

  same_figures.py [--module] [--renamed] REPORT REPORT

With --module the second report is that of a module, which states a part of the job of
the first one: with the same values. With --renamed the models have other names.
"""

import json
import sys

arguments = sys.argv[1:]
is_module, is_renamed = (option in arguments for option in ("--module", "--renamed"))
whole, part = (json.load(open(name)) for name in arguments[-2:])
job, stated = whole.pop("job"), part.pop("job")
for key in (whole.keys() | part.keys()) - ({"model"} if is_renamed else set()):
    assert whole.get(key) == part.get(key), (key, whole.get(key), part.get(key))
if is_module:
    # The module has the name of its function, and a mesh instead of degrees.
    assert stated.pop("model")["value"] == whole["model"]
    assert stated.pop("mesh")["value"] == whole["strategy"]
    for key, entry in stated.items():
        assert entry["value"] == job[key]["value"], (key, entry, job[key])
