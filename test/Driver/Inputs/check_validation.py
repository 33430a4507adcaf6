# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recomputes errors and scores of a validation from its cases, and checks that
predictions are as good as docs/accuracy.md says of their sources."""

import json
import sys


# By source. The run of llm-foundry is one that filled its memory; exchanges of
# tables that are placed unevenly are too long (dle).
BOUNDS = {"dle": 0.6, "simumax": 0.1, "vtrain": 0.1, "internlm7b": 0.1, "bloom": 0.15,
          "bigscience": 0.15, "ultrascale": 0.25, "llmfoundry": 0.25}


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
        group = row["id"].split("-")[0]
        assert abs(error) < BOUNDS.get(group, 0.5), (row["id"], error)
        interval = row["uncertainty"]
        assert (interval["low_s"] < row["predicted_iteration_time_s"]
                < interval["high_s"]), interval
        groups.setdefault(row["id"].split("-")[0], []).append(error)
    for group in result["groups"]:
        errors = groups[group["group"]]
        mae = sum(map(abs, errors)) / len(errors)
        assert abs(group["mae"] - mae) < 1e-12
        assert abs(group["bias"] - sum(errors) / len(errors)) < 1e-12
    memory = {g["group"]: g["memory_mae"] for g in result["groups"]}
    assert memory["simumax"] < 0.05, memory


main()
