# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the parts of a report and of a trace fit together.

check_views.py report REPORT     sums of parts are the whole
check_views.py same A B          but for `events`, which tells what was skipped
check_views.py uncontended REPORT
check_views.py path REPORT KIND=US...
                                 the critical path, all of it, in microseconds
check_views.py trace TRACE       arrows have two ends, each in a task
check_views.py both TRACE REPORT what both tell is the same
"""

import json
import sys
from collections import defaultdict


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def near(a, b):
    return abs(a - b) <= 1e-12


def check_report(report):
    time = report["iteration_time_s"]
    exposed = 0
    for stage in report["stages"]:
        parts = stage["breakdown"]
        assert near(sum(parts.values()), time), stage["name"]
        by_communication = [e["time_s"] for e in stage["exposed_by_communication"]]
        assert near(sum(by_communication), parts["exposed_communication"])
        assert by_communication == sorted(by_communication, reverse=True)
        by_op = sum(e["time_s"] for e in stage["compute_by_op"])
        assert near(by_op, stage["busy_s"])
        exposed += len(by_communication)
    assert exposed, "nothing is exposed, so nothing was checked"
    assert near(sum(e["time_s"] for e in report["critical_path"]), time)
    assert abs(sum(e["share"] for e in report["critical_path"]) - 1) < 1e-9
    assert report["links"]
    for link in report["links"]:
        used = link["bytes"] / (link["capacity"] * time)
        assert abs(used - link["utilization"]) < 1e-9, link
        assert 0 < link["utilization"] <= 1 + 1e-9, link
        assert 0 <= link["contended_s"] <= time, link
    assert any(link["contended_s"] for link in report["links"])


def check_trace(trace):
    events = trace["traceEvents"]
    slices = defaultdict(list)
    names = defaultdict(set)
    ends = defaultdict(list)
    for event in events:
        place = (event["pid"], event.get("tid"))
        if event["ph"] == "X":
            slices[place].append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "M":
            names[event["name"]].add(
                place if event["name"] == "thread_name" else event["pid"]
            )
        elif event["ph"] in "sf":
            ends[event["id"]].append(event)
    assert names["thread_name"] == set(slices)
    assert names["process_name"] == {pid for pid, _ in slices}
    assert any(event["ph"] == "C" for event in events), "no memory counter"
    kinds = defaultdict(int)
    starts = {place: {begin for begin, _ in tasks} for place, tasks in slices.items()}
    for pair in ends.values():
        assert [end["ph"] for end in pair] == ["s", "f"], pair
        begin, end = pair
        assert begin["name"] == end["name"] and begin["cat"] == end["cat"]
        assert begin["ts"] <= end["ts"], pair
        for place in pair:
            assert place["ts"] in starts[place["pid"], place["tid"]], place
        assert (begin["pid"], begin["tid"]) != (end["pid"], end["tid"])
        assert (begin["name"] == "message") == (begin["pid"] != end["pid"])
        kinds[begin["name"]] += 1
    receives = {"pipeline_receive", "pipeline_receive_gradient"}
    received = sum(
        len(slices[event["pid"], event["tid"]])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] in receives
    )
    assert kinds["message"] == received > 0, (kinds, received)
    assert kinds["dependency"] > 0


def check_path(report, entries):
    actual = {
        entry["kind"]: round(entry["time_s"] * 1e12)
        for entry in report["critical_path"]
    }
    expected = {}
    for entry in entries:
        kind, _, time = entry.rpartition("=")
        expected[kind] = round(float(time) * 1e6)
    assert actual == expected, (actual, expected)
    assert sum(actual.values()) == report["iteration_time_ps"]


def check_both(trace, report):
    """Memory counters reach the peak, tasks fill the streams, the last ends the step."""
    peaks, busy = defaultdict(int), defaultdict(float)
    streams, last = {}, 0
    for event in trace["traceEvents"]:
        if event["ph"] == "C":
            peaks[event["pid"]] = max(peaks[event["pid"]], event["args"]["bytes"])
        elif event["ph"] == "X":
            busy[event["pid"], event["tid"]] += event["dur"]
            last = max(last, event["ts"] + event["dur"])
        elif event["ph"] == "M" and event["name"] == "thread_name":
            streams[event["pid"], event["tid"]] = event["args"]["name"]
    stages = report["stages"]
    assert near(last * 1e-6, report["iteration_time_s"]), last
    assert len(peaks) == len(stages)
    for pid, stage in enumerate(stages):
        assert peaks[pid] == stage["peak_memory_bytes"], (pid, peaks[pid])
    assert max(peaks.values()) == report["peak_memory_bytes"]
    for place, name in streams.items():
        known = stages[place[0]]["stream_busy_s"][name]
        assert abs(busy[place] * 1e-6 - known) <= 1e-9 * known, (place, name)


def main():
    what, paths = sys.argv[1], sys.argv[2:]
    if what == "report":
        check_report(load(paths[0]))
    elif what == "same":
        a, b = (load(path) for path in paths)
        for report in a, b:
            del report["events"]
        assert a == b, [key for key in a if a[key] != b[key]]
    elif what == "uncontended":
        links = load(paths[0])["links"]
        assert links and not any(link["contended_s"] for link in links)
    elif what == "path":
        check_path(load(paths[0]), paths[1:])
    elif what == "both":
        check_both(load(paths[0]), load(paths[1]))
    elif what == "trace":
        check_trace(load(paths[0]))
    else:
        sys.exit(__doc__)


main()
