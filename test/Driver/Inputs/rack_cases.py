# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the network of racks: the cards of a tray of four GPUs count once per tray.

  rack_cases.py PROTEUS FILE
"""
import json
import shlex
import subprocess
import sys

proteus, path = sys.argv[1:]


def case(name, gpu, gpus, per_node, network):
    return {"id": name, "quality": "A",
            "hardware": {"gpu": gpu, "gpus": gpus, "gpus_per_node": per_node, "inter_link": network},
            "model": {"kind": "transformer-decoder", "name": "small", "layers": 8, "hidden": 4096,
                      "heads": 32, "ffn": 16384, "seq": 2048, "vocab": 50304},
            "strategy": {"framework": "Megatron-LM", "dp": gpus, "micro_batch": 1,
                         "global_batch": gpus, "precision": "bf16"},
            "measured": {"iteration_time_s": 1.0}}


cases = [
    case("tray", "GB200", 128, 4, "4x 400 Gb/s"),
    case("rack", "GB200", 128, 64, "64x 400 Gb/s"),
    case("whole", "GB200", 128, None, "64x 400 Gb/s"),
    case("device", "GB200", 128, 4, "400 Gb/s per GPU"),
    case("slow", "GB200", 128, 64, "4x 400 Gb/s"),
    case("partly", "H100-SXM", 20, 8, "8x 400 Gb/s"),
]
with open(path, "w") as file:
    json.dump(cases, file)
out = path + ".out"
subprocess.run(shlex.split(proteus) + ["validate", path, "--jobs", "1", "--json", out], check=True,
               capture_output=True)
with open(out) as file:
    results = {one["id"]: one for one in json.load(file)["cases"]}
times = {name: one["predicted_iteration_time_s"] for name, one in results.items()}
for name in ("rack", "whole", "device"):
    if times[name] != times["tray"]:
        sys.exit(f"{name} differs from tray: {times}")
if times["slow"] < 1.3 * times["tray"]:
    sys.exit(f"four cards of a rack are not slower: {times}")
if "the last of 3 nodes has 4 of its 8 GPUs in use" not in results["partly"]["assumed"]:
    sys.exit(f"partly: {results['partly']}")
