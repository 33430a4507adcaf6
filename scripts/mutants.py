#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts mistakes into a copy of the sources, builds it once, and runs the tests with one
mistake at a time until one fails. scripts/mutants.sh runs it. With --list, prints the
mistakes that are written by hand and their places, and changes nothing."""

import argparse
import sys
import time
from pathlib import Path

from mutation.hunt import Hunt, draw, read_survivors
from mutation.instrument import Copy
from mutation.named import Sources, print_list, read_mutants

REPOSITORY = Path(__file__).resolve().parent.parent
FILES = {"lowering": "mutants.txt", "engine": "mutants-engine.txt"}
SURVIVORS = REPOSITORY / "scripts/mutants-survivors.txt"
# Percentage of the mutants by rule that the tests have to find.
REQUIRED = 95


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=["rules", *FILES],
                        help="mutants by rule, or those written by hand in the lowering "
                             "or the engine; all if left out")
    parser.add_argument("--list", action="store_true",
                        help="print function, file and rule of every mistake written by "
                             "hand; fail if one does not fit the sources")
    parser.add_argument("--copy", type=Path, default=REPOSITORY / "build-mutants",
                        help="directory of the copy")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--count", type=int, default=200,
                        help="mutants by rule that are drawn")
    parser.add_argument("--room", default="", help="draw from this room only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="run the mutant with this name or number; may be repeated")
    parser.add_argument("--again", type=Path, metavar="FILE",
                        help="run the mutants of a file of survivors")
    return parser.parse_args()


def read_mistakes(part):
    mistakes = []
    for proof, name in FILES.items():
        for mistake in read_mutants(REPOSITORY / "scripts" / name):
            mistake.proof = proof
            if part in (None, "rules", proof):
                mistakes.append(mistake)
    return mistakes


def choose(mutants, options):
    """Returns the mutants to run."""
    if options.only:
        chosen = [mutant for mutant in mutants
                  if mutant.name in options.only or str(mutant.number) in options.only]
        if len(chosen) < len(options.only):
            sys.exit("mutants: no mutant is called so; numbers are those of the last "
                     "build")
        return chosen
    if options.again:
        keys = read_survivors(options.again)
        return [mutant for mutant in mutants if mutant.key() in keys]
    named = [mutant for mutant in mutants
             if mutant.name and options.part in (None, mutant.proof)]
    drawn = draw(mutants, options.count, options.seed, options.room) \
        if options.part in (None, "rules") else []
    return named + drawn


def report(title, counts):
    """Prints the result of some mutants. Returns the percentage that is
    killed of those that are not equivalent."""
    total = counts["killed"] + counts["equivalent"] + counts["untested"]
    if not total:
        return 100
    wrong = total - counts["equivalent"]
    share = 100 * counts["killed"] / max(wrong, 1)
    print(f"{title}: {total} mutants, {counts['killed']} killed "
          f"({100 * counts['killed'] / total:.1f} %), {counts['equivalent']} equivalent, "
          f"{counts['untested']} survive ({counts['not executed']} not executed by any "
          f"test); killed of those that are not equivalent: {share:.1f} %")
    return share


def main():
    options = parse_options()
    every = read_mistakes(None)
    if options.list:
        return print_list(read_mistakes(options.part), Sources(REPOSITORY))
    begin = time.time()
    copy = Copy(options.copy, options.jobs)
    copy.prepare(every)
    copy.compile()
    print(f"mutants: {len(copy.mutants)} at "
          f"{len({mutant.site for mutant in copy.mutants})} sites, built in "
          f"{time.time() - begin:.0f} s", flush=True)
    hunt = Hunt(copy, options.jobs)
    hunt.measure()
    known = read_survivors(SURVIVORS)
    for key in known.keys() - {mutant.key() for mutant in copy.mutants}:
        print(f"mutants: {SURVIVORS.name}: does not fit the sources: {key}")
    chosen = choose(copy.mutants, options)
    found = [
        report(title, hunt.run([mutant for mutant in chosen if is_part(mutant)], known,
                               copy.directory / f"survivors-{title.split()[-1]}.txt"))
        for title, is_part in (("written by hand", lambda mutant: mutant.name),
                               ("by rule", lambda mutant: not mutant.name))
    ]
    print(f"mutants: {time.time() - begin:.0f} s in all")
    return 0 if found[0] == 100 and found[1] >= REQUIRED else 1


if __name__ == "__main__":
    sys.exit(main())
