# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One run whose measurement is told in other ways.

measured_otherwise.py write CASES OUT
measured_otherwise.py check RESULT
"""
import copy
import json
import sys

SECONDS = 2.0

if sys.argv[1] == "write":
    cases = json.load(open(sys.argv[2]))
    case = next(c for c in cases if c["id"] == "vtrain-multi-0003")
    samples, tokens = case["strategy"]["global_batch"], case["strategy"]["global_batch"] * case["model"]["seq"]
    written = []
    for name, measured in {
        "time": {"iteration_time_s": SECONDS},
        "samples": {"samples_per_s": samples / SECONDS},
        "tokens": {"tokens_per_s_total": tokens / SECONDS},
        "each": {"tokens_per_s_per_gpu": tokens / SECONDS / case["hardware"]["gpus"]},
        "ranks": {"iteration_time_s": SECONDS, "per_rank_max_allocated_MiB": [1000, 3000.5, 2000]},
        "failed": {"oom": True},
        "large": {"oom": True},
    }.items():
        other = copy.deepcopy(case)
        other.pop("derived", None)
        other["id"], other["measured"] = f"told-{name}", measured
        if name == "large":
            other["strategy"].update(micro_batch=8, num_microbatches=1, recompute="none")
        written.append(other)
    json.dump(written, open(sys.argv[3], "w"))
else:
    results = {c["id"].split("-")[1]: c for c in json.load(open(sys.argv[2]))["cases"]}
    for name in ("time", "samples", "tokens", "each", "ranks"):
        assert abs(results[name]["measured_iteration_time_s"] - SECONDS) < 1e-9, results[name]
        assert not results[name]["measured_oom"]
    assert results["ranks"]["measured_peak_memory_bytes"] == 3000.5 * 2**20
    for name in ("failed", "large"):
        assert results[name]["measured_oom"] and results[name]["measured_iteration_time_s"] is None, results[name]
    assert results["failed"]["fits"] and not results["large"]["fits"]
