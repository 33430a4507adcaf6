#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the step times of several strategies as SVG, from reports of `proteus simulate`.

    build/bin/proteus simulate ... --json a.json     # one report per strategy
    docs/images/compare.py compare.svg TITLE "LABEL=a.json" "LABEL=b.json" ...

There is one bar per strategy: the step of its slowest device in seconds, by parts. The
line across the end of a bar is the 80 % interval of the prediction.
"""

import json
import math
import sys

PARTS = [("kernels", "#7aa6d8", ["compute", "recompute", "optimizer"]),
         ("exposed communication", "#e2a55f",
          ["exposed_communication", "exposed_pipeline"]),
         ("pipeline bubble", "#c9ccd1", ["bubble"])]
WIDTH, LEFT, RIGHT, ROW, TOP = 900, 226, 190, 52, 68


def draw(title, reports):
    last = math.ceil(max(r["uncertainty"]["high_s"] for _, r in reports))
    scale = (WIDTH - LEFT - RIGHT) / last
    bottom = TOP + ROW * len(reports)
    height = bottom + 46
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="12" y="22" font-size="15" font-weight="bold">{title}</text>']
    for i, (name, colour, _) in enumerate(PARTS):
        x = LEFT + [0, 85, 275][i]
        svg.append(f'<rect x="{x}" y="37" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{x + 17}" y="48">{name}</text>')
    svg.append(f'<path d="{whisker(LEFT + 410, LEFT + 440, 43)}" stroke="#333" '
               f'fill="none"/><text x="{LEFT + 447}" y="48">80 % interval</text>')
    for tick in range(0, last + 1, max(1, last // 7)):
        x = LEFT + tick * scale
        svg.append(f'<path d="M{x:.1f} {TOP - 4}V{bottom}" stroke="#e4e4e4"/>'
                   f'<text x="{x:.1f}" y="{bottom + 17}" '
                   f'text-anchor="middle">{tick}</text>')
    svg.append(f'<text x="{LEFT + last * scale / 2:.1f}" y="{bottom + 36}" '
               'text-anchor="middle">step time (s)</text>')
    for i, (label, report) in enumerate(reports):
        y, x = TOP + ROW * i + 8, LEFT
        svg.append(f'<text x="{LEFT - 10}" y="{y + 19}" '
                   f'text-anchor="end">{label}</text>')
        for _, colour, keys in PARTS:
            width = sum(report["breakdown"][key] for key in keys) * scale
            svg.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="28" '
                       f'fill="{colour}"/>')
            x += width
        low, high = (report["uncertainty"][key] * scale for key in ("low_s", "high_s"))
        svg.append(f'<path d="{whisker(LEFT + low, LEFT + high, y + 14)}" '
                   'stroke="#333" fill="none"/>')
        memory = report["memory"]
        svg.append(f'<text x="{WIDTH - RIGHT + 14}" y="{y + 12}">'
                   f'{report["iteration_time_s"]:.1f} s per step</text>'
                   f'<text x="{WIDTH - RIGHT + 14}" y="{y + 29}">'
                   f'{memory["needed_bytes"] / 1e9:.1f} of '
                   f'{memory["capacity_bytes"] / 1e9:.1f} GB memory</text>')
    return "\n".join(svg + ["</svg>"]) + "\n"


def whisker(left, right, y):
    return (f"M{left:.1f} {y}H{right:.1f}M{left:.1f} {y - 5}v10"
            f"M{right:.1f} {y - 5}v10")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    reports = []
    for argument in sys.argv[3:]:
        label, _, path = argument.rpartition("=")
        with open(path, encoding="utf-8") as file:
            reports.append((label, json.load(file)))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw(sys.argv[2], reports))


if __name__ == "__main__":
    main()
