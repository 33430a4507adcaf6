#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the pipeline of a simulated step as SVG, from the trace of --simulate.

    proteus-opt --lower-strategy --simulate=trace=t.json model.mlir -o /dev/null
    scripts/timeline.py t.json timeline.svg

There is one row per device class. A block is the forward or backward pass of one
micro-batch; idle time is white. To see single kernels, open the trace in Perfetto.
"""

import json
import sys

COLOURS = {"forward": "#7aa6d8", "backward": "#e2a55f", "update": "#78b07c",
           "reduction": "#b05a7a"}
WIDTH, LEFT, ROW, TOP = 1100, 90, 26, 34


def blocks(events):
    """Returns [start, end] in microseconds by (row, kind, micro-batch)."""
    spans = {}
    for event in events:
        if event["ph"] != "X":
            continue
        kind = event["cat"]
        micro = event["args"].get("micro_batch")
        if event["name"].startswith("bucket "):
            kind, micro = "reduction", event["name"]
        elif kind == "recompute":
            kind = "backward"
        elif event["tid"] != 0:
            continue
        key = (event["pid"], kind, micro)
        start, end = event["ts"], event["ts"] + event["dur"]
        span = spans.setdefault(key, [start, end])
        span[0], span[1] = min(span[0], start), max(span[1], end)
    return spans


def draw(events):
    names = {e["pid"]: e["args"]["name"] for e in events
             if e["ph"] == "M" and e["name"] == "process_name"}
    spans = blocks(events)
    last = max(end for _, end in spans.values())
    rows = {pid: i for i, pid in enumerate(sorted(names))}
    height = TOP + ROW * len(rows) + 26
    scale = (WIDTH - LEFT - 10) / last
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for i, (kind, colour) in enumerate(COLOURS.items()):
        x = LEFT + 110 * i
        label = "gradient reduction" if kind == "reduction" else kind
        svg.append(f'<rect x="{x}" y="8" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{x + 16}" y="18">{label}</text>')
    for pid, row in rows.items():
        y = TOP + ROW * row
        svg.append(f'<text x="4" y="{y + 14}">{names[pid].split(" (")[0]}</text>')
    for (pid, kind, _), (start, end) in sorted(spans.items(),
                                               key=lambda item: item[1]):
        y = TOP + ROW * rows[pid]
        high = 4 if kind == "reduction" else 16
        y += 17 if kind == "reduction" else 0
        svg.append(f'<rect x="{LEFT + start * scale:.2f}" y="{y}" '
                   f'width="{max((end - start) * scale - 0.3, 0.2):.2f}" '
                   f'height="{high}" fill="{COLOURS[kind]}"/>')
    axis = TOP + ROW * len(rows) + 14
    for i in range(6):
        x = LEFT + last * i / 5 * scale
        anchor = "end" if i == 5 else "middle"
        svg.append(f'<text x="{x:.0f}" y="{axis}" text-anchor="{anchor}">'
                   f'{last * i / 5 / 1e3:.0f} ms</text>')
    return "\n".join(svg + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(draw(events))


if __name__ == "__main__":
    main()
