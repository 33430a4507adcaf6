#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that folding changes nothing but the effort.

  check_fold.py NONE RANKS ALL

Reports of the same program with fold=none, fold=ranks and fold=all. Every figure of
every rank and of every link has to be the same; each form takes fewer events than
the one before.
"""

import json
import sys
from collections import Counter

# How the work was divided, and lists that have a row for every class.
EFFORT = {"simulated_devices", "tasks", "events", "stages", "links", "buckets"}
# Who stands for a class, and how many there are.
CLASS = {"ranks", "representative", "name", "count"}


def members(rows, number):
    """As often as a row has members: what it says of one."""
    counts = Counter()
    for row in rows:
        figures = {key: value for key, value in row.items() if key not in CLASS}
        counts[json.dumps(figures, sort_keys=True)] += row[number]
    return counts


def whole(report):
    return {key: value for key, value in report.items() if key not in EFFORT}


def main(paths):
    none, ranks, every = reports = [json.load(open(path)) for path in paths]
    for report in reports[1:]:
        first, second = whole(none), whole(report)
        assert first == second, [key for key in first if first[key] != second[key]]
        for rows, number in ("stages", "ranks"), ("links", "count"):
            first, second = members(none[rows], number), members(report[rows], number)
            assert first == second, (rows, first - second, second - first)
        first, second = ({json.dumps(b) for b in r["buckets"]} for r in (none, report))
        assert first == second, first ^ second
    # Someone waited for a shared link, or this was not a test of sharing.
    assert any(link["contended_s"] > 0 for link in none["links"])

    assert none["simulated_devices"] == none["devices"]
    assert ranks["simulated_devices"] == every["simulated_devices"]
    assert ranks["simulated_devices"] < none["devices"]
    # Tasks are those of the program; all micro-batches count, skipped or not.
    assert ranks["tasks"] == every["tasks"] < none["tasks"]
    assert every["events"] < ranks["events"] < none["events"]
    assert ranks["events"] >= ranks["tasks"] > 0


if __name__ == "__main__":
    main(sys.argv[1:])
