# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that say the same in other words, or something that is not known.

words_of_cases.py write CASES OUT: one case of CASES in many words
words_of_cases.py check RESULT:    the same prediction for each of them
"""
import copy
import json
import sys

SAME = {
    ("hardware", "gpu"): ["A100-SXM4-80GB", "NVIDIA A100-SXM4-80GB", "A100 SXM", "A100", "Tesla A100 80 GB"],
    ("hardware", "inter_link"): ["8x 100 Gb/s InfiniBand", "8 x HDR 100 Gbps", "100 Gbit/s per GPU", "100 GB/s per node"],
    ("strategy", "schedule"): ["1f1b", "1F1B", "1F1B (DeepSpeed pipe)"],
    ("strategy", "precision"): ["FP16", "AMP", "fp16 mixed"],
}
UNKNOWN = {
    ("hardware", "gpu"): ["GH200", "A4000", "A100-SXM-64GB", "V100-SXM2"],
    ("hardware", "inter_link"): ["fast"],
    ("strategy", "schedule"): ["dualpipe"],
    ("strategy", "tp"): ["two"],
}


def changed(case, name, part, key, value):
    other = copy.deepcopy(case)
    other["id"] = name
    other["hardware"].pop("gpu_mem_GB", None)
    other[part][key] = value
    return other


if sys.argv[1] == "write":
    cases = json.load(open(sys.argv[2]))
    case = next(c for c in cases if c["id"] == "vtrain-multi-0003")
    assert case["hardware"]["gpu"] == "A100-SXM-80GB" and case["hardware"]["inter_link"].startswith("800 Gb/s per node")
    written = [changed(case, "same-0", "strategy", "tp", case["strategy"]["tp"])]
    for kind, table in (("same", SAME), ("unknown", UNKNOWN)):
        for (part, key), words in table.items():
            for word in words:
                written.append(changed(case, f"{kind}-{len(written)} {word}", part, key, word))
    json.dump(written, open(sys.argv[3], "w"))
else:
    results = json.load(open(sys.argv[2]))["cases"]
    same = [c for c in results if c["id"].startswith("same")]
    first = same[0]["predicted_iteration_time_s"]
    assert first, same[0]
    for case in same:
        assert case["predicted_iteration_time_s"] == first, case
    unknown = [c for c in results if c["id"].startswith("unknown")]
    # V100 have other links and another rate: known, and another time.
    for case in unknown:
        word = case["id"].split(" ", 1)[1]
        if word == "V100-SXM2":
            assert case["predicted_iteration_time_s"] != first, case
        else:
            assert not case["supported"] and word in case["reason"], case
