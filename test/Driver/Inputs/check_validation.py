# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recomputes errors and scores of a validation from its cases. Kernel costs are
lower bounds so far, so times may only be too long where something else is wrong;
the peak memory does not depend on them."""

import json
import sys


def main():
    with open(sys.argv[1]) as stream:
        cases = {case["id"]: case for case in json.load(stream)}
    with open(sys.argv[2]) as stream:
        result = json.load(stream)
    assert [row["id"] for row in result["cases"]] == list(cases)
    groups = {}
    for row in result["cases"]:
        case = cases[row["id"]]
        measured = case["measured"].get(
            "iteration_time_s", case.get("derived", {}).get("iteration_time_s"))
        assert row["supported"], row["reason"]
        assert row["fits"], row["id"] + " ran, so it fits"
        assert row["measured_iteration_time_s"] == measured
        error = row["predicted_iteration_time_s"] / measured - 1
        assert abs(error - row["error"]) < 1e-12
        assert -0.9 < error < 0.5, (row["id"], error)
        groups.setdefault(row["id"].split("-")[0], []).append(error)
    for group in result["groups"]:
        errors = groups[group["group"]]
        mae = sum(map(abs, errors)) / len(errors)
        assert abs(group["mae"] - mae) < 1e-12
        assert abs(group["bias"] - sum(errors) / len(errors)) < 1e-12
    memory = {g["group"]: g["memory_mae"] for g in result["groups"]}
    assert memory["simumax"] < 0.05, memory


main()
