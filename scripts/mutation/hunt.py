# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws mutants and runs the tests that execute their code until one fails."""

import hashlib
import json
import random
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation.checks import Scratch, all_checks

PROOFS = {"lowering": "strategy-fuzz ", "engine": "ProteusSimTests "}


class Survivor:
    """A mutant that no test finds, and the reason."""

    def __init__(self, function, rule, code, occurrence, reason):
        self.key = (function, rule, code, int(occurrence or 1))
        self.reason = " ".join(reason.split())

    def is_equivalent(self):
        return self.reason.startswith("equivalent")


def read_survivors(path):
    """Returns the entries of a file of survivors by key."""
    text = "".join(line for line in path.read_text().splitlines(True)
                   if not line.startswith("#"))
    survivors = {}
    for entry in text.split("====\n"):
        if not entry.strip():
            continue
        match = re.fullmatch(r"\s*function ([^\n]+)\nrule ([^\n]+)\ncode ([^\n]+)\n"
                             r"(?:occurrence (\d+)\n)?reason (.+)", entry, re.S)
        if not match:
            sys.exit(f"{path}: not a survivor: {entry.strip()[:60]!r}")
        function, rule, code, occurrence, reason = match.groups()
        survivor = Survivor(function, rule, code, occurrence, reason)
        survivors[survivor.key] = survivor
    return survivors


def written(mutant, reason):
    """Returns a mutant as an entry of a file of survivors."""
    occurrence = f"occurrence {mutant.occurrence}\n" if mutant.occurrence > 1 else ""
    return (f"function {mutant.function}\nrule {mutant.rule}\ncode {mutant.code}\n"
            f"{occurrence}reason {reason}\n====\n")


def draw(mutants, count, seed, room=""):
    """Returns mutants by a seed: the same number of each room, and one of a site."""
    generator = random.Random(seed)
    sites = {}
    for mutant in mutants:
        if not mutant.name and mutant.room.startswith(room):
            sites.setdefault(mutant.room, {}).setdefault(mutant.site, []).append(mutant)
    queues = []
    for name in sorted(sites):
        queue = [sites[name][site] for site in sorted(sites[name])]
        generator.shuffle(queue)
        queues.append(queue)
    drawn = []
    while len(drawn) < count and any(queues):
        for queue in queues:
            if queue and len(drawn) < count:
                drawn.append(generator.choice(queue.pop()))
    return drawn


class Hunt:
    """Runs of tests on a copy with mutants."""

    def __init__(self, copy, jobs):
        self.copy = copy
        self.jobs = jobs
        self.lock = threading.Lock()
        self.local = threading.local()
        self.workers = 0
        self.checks = all_checks(copy.directory, copy.build)
        self.by_site = {}

    def scratch(self):
        """Returns the directory of the present worker."""
        if not hasattr(self.local, "scratch"):
            with self.lock:
                self.workers += 1
                directory = self.copy.directory / f"scratch/{self.workers}"
            self.local.scratch = Scratch(self.copy.build, directory)
        return self.local.scratch

    def stamp(self, check):
        """Returns a hash of all that a check depends on."""
        digest = hashlib.sha256(repr(check.command).encode())
        programs = [Path(check.command[0])]
        if check.name.startswith(("lit ", "goldens")):
            programs = sorted(file for file in (self.copy.build / "bin").iterdir()
                              if not file.name.endswith("Tests"))
        if check.name.startswith("lit "):
            programs.append(self.copy.directory / "test" / check.name[4:])
        for program in programs + [self.copy.build / "libProteusMutants.so"]:
            status = program.stat()
            digest.update(f"{program} {status.st_mtime_ns} {status.st_size}".encode())
        return digest.hexdigest()[:20]

    def measure(self):
        """Runs every check without a mutant. Keeps those that pass, with their times
        and the sites that they execute."""
        path = self.copy.directory / "checks.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        results = {}

        def run(check):
            stamp = self.stamp(check)
            result = known.get(check.name)
            if not result or result["stamp"] != stamp:
                scratch = self.scratch()
                table = scratch.directory / "executed"
                table.unlink(missing_ok=True)
                failure, seconds = check.run(scratch, table=table)
                data = table.read_bytes() if table.exists() else b""
                sites = [match.start() for match in re.finditer(b"\x01", data)]
                result = {"stamp": stamp, "failure": failure, "seconds": seconds,
                          "sites": sites}
                if failure:
                    print(f"mutants: left out: {check.name} {failure} without a mutant",
                          flush=True)
            results[check.name] = result
            check.seconds, check.failure = result["seconds"], result["failure"]

        begin = time.time()
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(run, self.checks))
        path.write_text(json.dumps(results))
        self.checks = sorted((check for check in self.checks if not check.failure),
                             key=lambda check: check.seconds)
        for check in self.checks:
            for site in results[check.name]["sites"]:
                self.by_site.setdefault(site, []).append(check)
        print(f"mutants: {len(self.checks)} tests take "
              f"{sum(check.seconds for check in self.checks):.0f} s and execute "
              f"{len(self.by_site)} sites; measured in {time.time() - begin:.0f} s",
              flush=True)

    def try_mutant(self, mutant):
        """Returns the test that finds a mutant and the kind of its failure, or None
        and the number of tests that execute its code."""
        checks = [check for check in self.by_site.get(mutant.site, [])
                  if check.name.startswith(PROOFS.get(mutant.proof, ""))]
        for check in checks:
            failure, _ = check.run(self.scratch(), mutant.number,
                                   limit=4 * check.seconds + 8)
            if failure:
                return check, failure
        return None, len(checks)

    def run(self, mutants, known, list_path):
        """Runs mutants and prints a line for each. Writes the survivors, and returns
        the numbers of mutants that are killed, that are equivalent to the sources, and
        that survive without a reason."""
        counts = {"killed": 0, "equivalent": 0, "untested": 0, "not executed": 0}
        entries = []

        def judge(mutant):
            begin = time.time()
            check, failure = self.try_mutant(mutant)
            survivor = known.get(mutant.key())
            if check:
                verdict, kind = f"{check.name} {failure}", "killed"
                if survivor:
                    verdict += ", though it is listed as a survivor"
            else:
                kind = "equivalent" if survivor and survivor.is_equivalent() \
                    else "untested"
                verdict = f"SURVIVES {failure} tests" if failure else "NOT EXECUTED"
                if survivor:
                    verdict += f" ({survivor.reason})"
            title = mutant.name or (f"{mutant.file}: {mutant.function}: "
                                    f"{mutant.rule}: {mutant.code[:60]}")
            with self.lock:
                counts[kind] += 1
                counts["not executed"] += not check and not failure
                if not check:
                    entries.append(written(mutant, survivor.reason if survivor else "?"))
                print(f"{mutant.number:7} {title}\n        "
                      f"{time.time() - begin:6.1f} s  {verdict}", flush=True)

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(judge, mutants))
        list_path.write_text("".join(sorted(entries)))
        return counts
