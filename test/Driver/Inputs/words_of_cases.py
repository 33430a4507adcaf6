# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that say the same in other words, or something that is not known.

words_of_cases.py write CASES OUT: one case of CASES in many words
words_of_cases.py check RESULT:    the same prediction for each of them
"""
import copy
import json
import sys

DROP = "(not said)"

SAME = {
    ("hardware", "gpu"): ["A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB", "A100 SXM", "A100", "Tesla A100 80 GB"],
    ("hardware", "intra_link"): ["NVLink3", "NVSwitch, PCIe 4.0 to the host", None, DROP],
    ("hardware", "inter_link"): [
        "8x 100 Gb/s InfiniBand", "8 x HDR 100 Gbps", "100 Gbit/s per GPU", "100 GB/s per node", "8x HDR100 InfiniBand",
        "8 NICs, 100 Gb/s each", "EDR InfiniBand x8", "8\u00d7 100GbE RoCE", "0.8 Tb/s per node", "800Gbps/node", "8x ConnectX-5",
        "8 ConnectX-5 cards", "8x100G", "800 Gb/s total",
    ],
    ("hardware", "gpus"): [DROP],
    ("strategy", "schedule"): ["1f1b", "1F1B", "1F1B (DeepSpeed pipe)", None, "nothing to order"],
    ("strategy", "precision"): ["FP16", "AMP", "fp16 mixed", "float16"],
    ("strategy", "recompute"): ["Full", True, "checkpointing of all layers"],
    ("strategy", "dp"): [DROP],
    ("strategy", "zero"): [0, None],
    ("strategy", "fsdp"): ["NO_SHARD", False],
    ("strategy", "optimizer"): [None],
    ("model", "name"): [DROP, None],
    ("model", "kind"): ["decoder"],
    ("model", "colour"): ["green"],
    ("model", "norm"): ["LayerNorm", None],
    ("model", "positions"): ["absolute"],
}
# What is left open is settled, and said to be.
ASSUMED = {
    ("hardware", "gpu"): ["A100-SXM-64GB"],
    ("hardware", "gpus_per_node"): [DROP],
    ("hardware", "inter_link"): ["fast", "", None, DROP, "InfiniBand", "200 Gb/s", "10 GbE", "1600 Gb/s", "4x InfiniBand", "400 Gb/s per NIC", "NDR InfiniBand",
                                 "HDR100 NICs", "ConnectX 5 cards"],
    ("strategy", "precision"): [DROP],
    ("strategy", "framework"): [DROP, "HomeMade"],
    ("strategy", "num_microbatches"): [None],
    ("model", "vocab"): [DROP],
    ("model", "heads"): [DROP],
}
# Names of chips and the device that each is.
DEVICES = {
    "NVIDIA GB300": "GB300-288GB", "B300": "B300-SXM6-288GB", "GB200 NVL72": "GB200-186GB", "GH200": "GH200-96GB",
    "H200": "H200-SXM5-141GB", "H100 NVL": "H100-NVL-94GB", "H100 PCIe": "H100-PCIe-80GB", "H20": "H20-96GB", "A10G": "A10G",
    "A10": "A10", "A30": "A30-24GB", "L40S": "L40S", "L40": "L40", "L4": "L4", "NVIDIA RTX 6000 Ada Generation": "RTX-6000-Ada",
    "RTX A6000": "RTX-A6000", "Quadro RTX 8000": "Quadro-RTX-8000", "TITAN RTX": "TITAN-RTX", "TITAN V": "TITAN-V",
    "RTX 2080 Ti": "RTX-2080Ti", "GeForce RTX 5090": "RTX-5090", "V100-SXM2": "V100-SXM2-16GB", "V100 SXM2 32GB": "V100-SXM2-32GB",
    "V100S-PCIe-32GB": "V100S-PCIe-32GB", "Tesla V100S 32GB": "V100S-PCIe-32GB", "V100-PCIe-32GB": "V100-PCIe-32GB", "MI300X": "MI300X-192GB", "AMD Instinct MI355X": "MI355X-288GB",
    "P40": "P40", "A4000": "RTX-A4000",
}
NODES = [("V100-SXM2-32GB", 1), ("V100-SXM2-32GB", 2), ("V100-SXM2-32GB", 4), ("V100-SXM2-32GB", 16), ("P100-SXM2-16GB", 4), ("GB200", 4)]
UNKNOWN = {
    ("hardware", "gpu"): ["Gaudi", "A4444"],
    ("strategy", "tp"): ["two"],
    ("strategy", "recompute"): ["sometimes"],
    ("strategy", "precision"): ["int3"],
    ("strategy", "fsdp"): ["SOME_SHARD"],
    ("strategy", "cp_comm_type"): ["carrier pigeon"],
    ("model", "kind"): ["poem"],
}


def changed(case, name, part, key, value):
    other = copy.deepcopy(case)
    other["id"] = name
    other["hardware"].pop("gpu_mem_GB", None)
    if key == "cp_comm_type":
        other["strategy"].update(cp=2, dp=case["strategy"]["dp"] // 2)
    other[part][key] = value
    if value == DROP:
        del other[part][key]
    # The global batch alone does not say how it is accumulated.
    if (key, value) == ("num_microbatches", None):
        del other["strategy"]["global_batch"]
    return other


if sys.argv[1] == "write":
    cases = json.load(open(sys.argv[2]))
    case = next(c for c in cases if c["id"] == "vtrain-multi-0003")
    assert case["hardware"]["gpu"] == "A100-SXM-80GB" and case["hardware"]["inter_link"].startswith("800 Gb/s per node")
    written = [changed(case, "same-0", "strategy", "tp", case["strategy"]["tp"])]
    for kind, table in (("same", SAME), ("assumed", ASSUMED), ("unknown", UNKNOWN)):
        for (part, key), words in table.items():
            for word in words:
                written.append(changed(case, f"{kind}-{len(written)} {part}.{key} {word}", part, key, word))
    for word in DEVICES:
        written.append(changed(case, f"device-{len(written)} {word}", "hardware", "gpu", word))
    # Parts of a cube, the switch of a DGX-2, and trays that are linked to a rack.
    for gpu, size in NODES:
        node = changed(case, f"node-{len(written)} {gpu}", "hardware", "gpu", gpu)
        node["hardware"]["gpus_per_node"] = size
        written.append(node)
    json.dump(written, open(sys.argv[3], "w"))
else:
    results = json.load(open(sys.argv[2]))["cases"]
    same = [c for c in results if c["id"].startswith("same")]
    first = same[0]["predicted_iteration_time_s"]
    assert first, same[0]
    for case in same:
        assert case["predicted_iteration_time_s"] == first, case
    assumed = [c for c in results if c["id"].startswith("assumed")]
    assert assumed
    for case in assumed:
        assert case["supported"] and len(case["assumed"]) > len(same[0]["assumed"]), case
    # What has no part in the job is said.
    assert same[0]["assumed"] == ["'grad_bucketing' of the strategy changes nothing"], same[0]
    # A network that is not known makes the interval wider.
    def width(case):
        return case["uncertainty"]["high_s"] / case["predicted_iteration_time_s"]

    vague = next(c for c in assumed if c["id"].endswith("inter_link 10 GbE"))
    assert width(vague) > 1.2 * width(same[0]), vague
    # Rates alone: all cards of the node, one of them, and each of them.
    times = {c["id"].split(" ", 2)[2]: c["predicted_iteration_time_s"] for c in assumed if ".inter_link" in c["id"]}
    # The number in the name of a generation is no number of cards.
    assert times["HDR100 NICs"] == times["ConnectX 5 cards"] == first, times
    assert times["10 GbE"] > 2 * first, times
    assert times["1600 Gb/s"] == times["200 Gb/s"] == times["fast"] < times["4x InfiniBand"] == first, times
    # Rates of cards are not divided over the cards.
    assert times["400 Gb/s per NIC"] == times["NDR InfiniBand"] < times["200 Gb/s"], times
    for case in (c for c in results if c["id"].startswith("device")):
        device = DEVICES[case["id"].split(" ", 1)[1]]
        assert case["device"] == device, (case["id"], case["device"], device)
        assert case["supported"], case
    nodes = [c for c in results if c["id"].startswith("node")]
    assert len(nodes) == len(NODES) and all(c["supported"] for c in nodes), nodes
    assert "64 GPUs are linked by NVLink, in racks of 72" in nodes[-1]["assumed"], nodes[-1]
    # One device in a node has no links; those of a cube's corner have some.
    assert nodes[0]["predicted_iteration_time_s"] != nodes[1]["predicted_iteration_time_s"]
    unknown = [c for c in results if c["id"].startswith("unknown")]
    assert unknown
    for case in unknown:
        word = case["id"].split(" ", 2)[2]
        assert not case["supported"] and word.lower() in case["reason"].lower().replace('"', ""), case
