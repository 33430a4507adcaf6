# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests that may find a mutant, and one run of a test."""

import os
import resource
import signal
import subprocess
import time

LIT = "/usr/lib/llvm-22/bin/lit"
# A mutant may allocate without end.
MAX_MEMORY = 6 << 30


class Check:
    """A test: its name, its command, and after a run of the unchanged sources its time
    and the sites that it executes."""

    def __init__(self, name, command):
        self.name = name
        self.command = [str(word) for word in command]
        self.seconds = None
        self.sites = frozenset()

    def run(self, scratch, mutant=0, table=None, limit=900):
        """Runs the test. Returns None if it passes, or the kind of its failure, and
        its seconds."""
        environment = dict(os.environ, PROTEUS_MUTANT=str(mutant),
                           PROTEUS_MUTANTS_SCRATCH=str(scratch.directory / "test"),
                           PROTEUS_BIN=str(scratch.build / "bin"))
        environment.pop("PROTEUS_MUTANTS_EXECUTED", None)
        if table:
            environment["PROTEUS_MUTANTS_EXECUTED"] = str(table)
        words = [word.replace("@SCRATCH@", str(scratch.directory))
                 for word in self.command]
        begin = time.time()
        process = subprocess.Popen(
            words, cwd=scratch.directory, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                  (MAX_MEMORY, MAX_MEMORY)))
        try:
            code = process.wait(limit)
            failure = None if code == 0 else "crashes" if code < 0 else "fails"
        except subprocess.TimeoutExpired:
            failure = "hangs"
        # A test that ends may leave children; one that hangs has them.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return failure, time.time() - begin


class Scratch:
    """A directory in which a worker runs tests of a build, so that workers do not
    write to the same files."""

    def __init__(self, build, directory):
        self.build = build
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)


def suites(program):
    """Returns the suites of a unit test, each with its last dot."""
    listed = subprocess.run([program, "--gtest_list_tests"], check=True,
                            capture_output=True, text=True).stdout
    return [line.split("#")[0].strip() for line in listed.splitlines()
            if line and not line.startswith((" ", "Running "))]


def all_checks(copy, build):
    """Returns all checks: fuzzers with fixed seeds, suites of unit tests, lit tests and
    goldens."""
    checks = [Check(f"strategy-fuzz --first {first}", [
        build / "bin/proteus-strategy-fuzz", "--seed", 1, "--first", first,
        "--count", 50, "--jobs", 1, "--fail-fast", "--out", "@SCRATCH@"])
        for first in range(0, 300, 50)]
    checks += [Check(f"fold-fuzz --first {first}", [
        build / "bin/proteus-fold-fuzz", "--seed", 3, "--first", first, "--count", 5,
        "--out", "@SCRATCH@"]) for first in range(0, 25, 5)]
    for program in sorted((build / "bin").glob("Proteus*Tests")):
        checks += [Check(f"{program.name} {suite}*", [
            program, f"--gtest_filter={suite}*", "--gtest_fail_fast",
            "--gtest_brief=1"]) for suite in suites(program)]
    for file in sorted((copy / "test").rglob("*")):
        if file.suffix in (".mlir", ".test") and "Inputs" not in file.parts:
            name = file.relative_to(copy / "test")
            checks.append(Check(f"lit {name}", [
                LIT, "-q", "-j1", build / "test" / name]))
    checks.append(Check("goldens", ["python3", copy / "scripts/goldens.py"]))
    return checks
