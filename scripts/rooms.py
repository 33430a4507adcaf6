#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints which room includes which, or checks it.

A room is a folder of include/Proteus and lib: `Sim`, `Dialect/NN`,
`Transforms/Match`. With --check the includes are compared with the table of
rooms in docs/architecture.md. It fails if a room includes one that its row does
not list, if a row lists a room that is never included, if there is a cycle, if a
room that the table marks as free of MLIR includes an MLIR header, or if a folder
of lib/Transforms has too many files.

  scripts/rooms.py            prints the graph
  scripts/rooms.py --check    compares it with docs/architecture.md
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Folders whose subfolders are rooms of their own.
GROUPS = {"Dialect", "Transforms", "Reference"}
MAX_FILES = 30


def room_of(parts):
    """Returns the room of a path below include/Proteus or lib."""
    if len(parts) == 1:
        return Path(parts[0]).stem
    if parts[0] in GROUPS and len(parts) > 2:
        return f"{parts[0]}/{parts[1]}"
    return parts[0]


def sources():
    """Yields every source with its room."""
    for base in (ROOT / "include" / "Proteus", ROOT / "lib"):
        for path in sorted(base.rglob("*")):
            if path.suffix in {".h", ".cpp", ".td", ".def"}:
                yield path, room_of(path.relative_to(base).parts)


def read_graph():
    """Returns the edges between rooms with the files that make them, and the
    rooms that include MLIR headers."""
    edges, mlir = defaultdict(list), defaultdict(list)
    for path, room in sources():
        text = path.read_text()
        for name in re.findall(r'^\s*#?include\s+"([^"]+)"', text, re.M):
            if name.startswith("Proteus/"):
                other = room_of(Path(name).parts[1:])
                if other != room:
                    edges[room, other].append(f"{path.relative_to(ROOT)}: {name}")
            elif name.startswith("mlir/") and name.endswith(".h"):
                mlir[room].append(f"{path.relative_to(ROOT)}: {name}")
    return edges, mlir


def read_table():
    """Returns the rows of the table of rooms: the rooms that each may use, and
    whether it may use MLIR."""
    rows = {}
    text = (ROOT / "docs" / "architecture.md").read_text()
    table = text[text.index("## Rooms"):]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and cells[0].startswith("`"):
            rooms = re.findall(r"`([^`]+)`", cells[3])
            rows[cells[0].strip("`")] = (set(rooms), cells[2] == "yes")
    return rows


def find_cycle(edges):
    """Returns the rooms of a cycle, or an empty list."""
    following = defaultdict(set)
    for room, other in edges:
        following[room].add(other)
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return []
        path.append(room)
        for other in sorted(following[room]):
            if cycle := visit(other):
                return cycle
        path.pop()
        done.add(room)
        return []

    for room in sorted(following):
        if cycle := visit(room):
            return cycle
    return []


def check(edges, mlir):
    """Returns the violations as lines of text."""
    rows, faults = read_table(), []
    rooms = {room for _, room in sources()}
    faults += [f"{room}: no row in docs/architecture.md"
               for room in sorted(rooms - set(rows))]
    faults += [f"{room}: a row in docs/architecture.md, but no folder"
               for room in sorted(set(rows) - rooms)]
    for (room, other), places in sorted(edges.items()):
        if room in rows and other not in rows[room][0]:
            faults.append(f"{room} may not use {other}: {places[0]}")
    for room, (allowed, _) in sorted(rows.items()):
        for other in sorted(allowed):
            if (room, other) not in edges:
                faults.append(f"{room} does not use {other}, which its row lists")
    for room, places in sorted(mlir.items()):
        if room in rows and not rows[room][1]:
            faults.append(f"{room} may not use MLIR: {places[0]}")
    if cycle := find_cycle(edges):
        faults.append("cycle: " + " -> ".join(cycle))
    for folder in sorted((ROOT / "lib" / "Transforms").rglob("*")):
        if folder.is_dir():
            count = sum(1 for file in folder.iterdir() if file.is_file())
            if count > MAX_FILES:
                faults.append(f"{folder.relative_to(ROOT)} has {count} files; "
                              f"at most {MAX_FILES}")
    return faults


def main():
    edges, mlir = read_graph()
    if "--check" in sys.argv[1:]:
        faults = check(edges, mlir)
        print("\n".join(faults) or f"{len(edges)} edges between rooms, as stated")
        sys.exit(1 if faults else 0)
    rooms = sorted({room for _, room in sources()})
    for room in rooms:
        used = sorted(other for first, other in edges if first == room)
        print(f"{room}{' (MLIR)' if room in mlir else ''}: {', '.join(used)}")


if __name__ == "__main__":
    main()
