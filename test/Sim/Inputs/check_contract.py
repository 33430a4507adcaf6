#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what tools may rely on of a report and of the module beside it.

  check_contract.py REPORT MODULE

Every field is there with its type, sums are the whole, and the attributes of the
module are figures of the report.
"""

import json
import re
import sys

NUMBER, NULL = (int, float), type(None)
FIELDS = {
    "schema": str,
    "iteration_time_s": float,
    "samples_per_s": NUMBER,
    "tokens_per_s": (int, float, NULL),
    "tokens_per_s_per_device": (int, float, NULL),
    "mfu": float,
    "devices": int,
    "simulated_devices": int,
    "peak_memory_bytes": int,
    "peak_reserved_memory_bytes": int,
    "fits": bool,
    "stages": list,
    "breakdown": dict,
    "collectives": list,
    "tasks": int,
    "events": int,
    "sources": dict,
    "uncertainty": dict,
}
PARTS = {
    "stages": {"peak_memory_bytes": int, "busy_s": float, "bubble_s": float},
    "collectives": {
        "kind": str,
        "group_size": int,
        "bytes": int,
        "count": int,
        "time_s": float,
    },
}
SUM = ["compute", "exposed_communication", "bubble", "optimizer"]


def has(where, part, fields):
    for name, kind in fields.items():
        assert name in part, f"{where} has no {name}"
        assert isinstance(part[name], kind), f"{where}: {name} is {part[name]!r}"


def main(report, module):
    with open(report) as file:
        report = json.load(file)
    has("the report", report, FIELDS)
    assert report["schema"] == "proteus-report/1"
    for name, fields in PARTS.items():
        assert report[name], f"{name} is empty"
        for part in report[name]:
            has(name, part, fields)
    has("breakdown", report["breakdown"], dict.fromkeys(SUM, float))
    has("uncertainty", report["uncertainty"], {"low_s": float, "high_s": float})
    sources = {"measured", "interpolated", "fitted", "datasheet", "roofline"}
    assert set(report["sources"]) == sources, report["sources"]

    # Parts are whole picoseconds; as seconds they are rounded to the last bit.
    time = report["iteration_time_s"]
    for part in [report] + report["stages"]:
        total = sum(part["breakdown"].values())
        assert abs(total - time) < 1e-13, (total, time)
    for stage in report["stages"]:
        parts = stage["breakdown"]
        busy = parts["compute"] + parts["recompute"] + parts["optimizer"]
        assert abs(busy - stage["busy_s"]) < 1e-13
        assert stage["bubble_s"] == parts["bubble"]
    assert report["peak_memory_bytes"] == max(
        stage["peak_memory_bytes"] for stage in report["stages"]
    )
    assert report["devices"] == sum(stage["ranks"] for stage in report["stages"])
    assert report["simulated_devices"] == len(report["stages"])
    tokens, each = report["tokens_per_s"], report["tokens_per_s_per_device"]
    assert (tokens is None) == (each is None)
    if tokens is not None:
        assert abs(tokens / report["devices"] / each - 1) < 1e-12

    with open(module) as file:
        text = file.read()
    # Attributes are written with the digits that tell them from others.
    for name, value in {
        "iteration_time_ms": time * 1e3,
        "samples_per_second": report["samples_per_s"],
        "peak_memory_mb": report["peak_memory_bytes"] / 1e6,
    }.items():
        attribute = re.search(rf"proteus\.{name} = ([-+.e0-9]+) : f64", text)
        assert abs(float(attribute[1]) / value - 1) < 1e-12, (name, attribute[1])
    assert f"proteus.fits = {str(report['fits']).lower()}" in text


if __name__ == "__main__":
    main(*sys.argv[1:])
