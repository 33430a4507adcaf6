# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the JSON of the benchmarks, prints what lowering costs as a table, and
fails if it costs more than it may. See scripts/bench.sh."""

import json
import sys


def main():
    times = {}
    with open(sys.argv[1]) as stream:
        for entry in json.load(stream)["benchmarks"]:
            if entry.get("run_type", "iteration") == "iteration":
                times.setdefault(entry["name"], []).append(entry)
    # CPU time in ms, the best of the repetitions.
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
    times = {
        name: min(e["cpu_time"] * scale[e["time_unit"]] for e in entries)
        for name, entries in times.items()
    }
    good = True

    def row(what, figure, limit, fine):
        nonlocal good
        good &= fine
        print(f"  {what:44}{figure:>14}{limit:>16}  "
              f"{'yes' if fine else 'NO'}")

    print(f"  {'lowering, CPU time':44}{'measured':>14}{'at most':>16}  held")
    for name, ms in times.items():
        if name.startswith("lowerPreset"):
            kind, preset = name.split("/", 1)
            written = ", written out" if kind.endswith("Unrolled") else ""
            row(f"96 layers, {preset}{written}", f"{ms:.0f} ms", "1000 ms",
                ms < 1000)

    def series(benchmark):
        found = {int(name.split("/")[1]): ms for name, ms in times.items()
                 if name.startswith(benchmark + "/")}
        return sorted(found.items())

    def growth(benchmark, what, limit):
        points = series(benchmark)
        if len(points) < 2:
            return
        (small, first), (large, last) = points[0], points[-1]
        sizes = "/".join(str(size) for size, _ in points)
        measured = "/".join(f"{ms:.0f}" for _, ms in points)
        print(f"  {what} {sizes}: {measured} ms")
        row(f"  from {small} to {large}", f"{last / first:.2f} x",
            f"{limit(large / small):.2f} x", last / first <= limit(large / small))

    growth("lowerRepeated", "layers under nn.repeat", lambda ratio: 1.5)
    # A constant part makes linear growth look better, noise worse.
    growth("lowerUnrolled", "layers written out", lambda ratio: 1.1 * ratio)
    growth("lowerByDevices", "devices", lambda ratio: 1.5)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
