# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inserts one mistake after the other into a copy of the sources, builds it, and
runs the check that must find it: the fuzzer of strategies, or the tests of the
engine. scripts/mutants.sh runs it."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class Mutant:
    """A mistake: its name, its effect, and the code without and with it."""

    def __init__(self, name, says, before, after):
        self.name = name
        self.says = says
        self.before = before
        self.after = after


def read_mutants(path):
    """Returns the mutants of a file; its head describes the format."""
    text = "".join(
        line for line in path.read_text().splitlines(True)
        if not line.startswith("#")
    )
    mutants = []
    for entry in text.split("====\n"):
        if not entry.strip():
            continue
        match = re.fullmatch(
            r"\s*mutant (\S+)\n(.*?)\n----\n(.*?)\n----\n(.*)", entry, re.S
        )
        if not match:
            sys.exit(f"{path}: not a mutant: {entry.strip()[:60]!r}")
        mutants.append(Mutant(*match.groups()))
    return mutants


def find(mutant, sources):
    """Returns the file with the code of a mutant and the text of this file with the
    mistake, or None and an error if the code does not occur exactly once."""
    tokens = re.findall(r"\w+|[^\w\s]", mutant.before)
    pattern = re.compile(r"\s*".join(re.escape(token) for token in tokens))
    found = []
    for file in sources:
        text = file.read_text()
        found += [(file, text, hit) for hit in pattern.finditer(text)]
    if len(found) != 1:
        places = ", ".join(file.name for file, _, _ in found)
        return None, (
            f"the code it changes occurs {len(found)} times"
            + (f" ({places})" if places else "")
            + "; make its entry fit the sources"
        )
    file, text, hit = found[0]
    return file, text[: hit.start()] + mutant.after + text[hit.end():]


def copy_sources(copy):
    """Copies the sources to `copy`. Files that have not changed keep their
    modification time, so that few are built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY, check=True, capture_output=True, text=True,
    ).stdout
    names = {name for name in listed.split("\0")
             if name and (REPOSITORY / name).is_file()}
    for name in names:
        content = (REPOSITORY / name).read_bytes()
        target = copy / name
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for part in ["lib", "include", "tools"]:
        for file in (copy / part).rglob("*"):
            if file.is_file() and str(file.relative_to(copy)) not in names:
                file.unlink()


class Build:
    """A build of the copy, without optimisation, because building takes most of the
    time and few cases are run."""

    def __init__(self, copy, jobs, target):
        self.directory = copy / "build"
        self.target = target
        self.copy = copy
        self.jobs = jobs
        self.log = self.directory / "mutants.log"
        self.fuzzer = self.directory / "bin/proteus-strategy-fuzz"
        self.unchanged = self.directory / "bin/proteus-strategy-fuzz-unchanged"
        self.environment = dict(os.environ)
        # With the same base directory, ccache finds objects of other builds.
        self.environment.setdefault("CCACHE_BASEDIR", str(REPOSITORY.parent))

    def call(self, command):
        with open(self.log, "a") as stream:
            return subprocess.run(command, stdout=stream, stderr=stream,
                                  env=self.environment).returncode == 0

    def configure(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        if (self.directory / "build.ninja").exists():
            return True
        return self.call([
            "cmake", "-G", "Ninja", "-S", self.copy, "-B", self.directory,
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
            "-DPROTEUS_PRECOMPILED_HEADERS=ON",
            "-DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir",
            "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
            "-DCMAKE_C_COMPILER_LAUNCHER=ccache",
            "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DLLVM_USE_LINKER=lld",
        ])

    def run(self):
        return self.call(["ninja", "-C", self.directory, "-j", self.jobs,
                          self.target])

    def keep(self):
        """Keeps the fuzzer of the unchanged sources."""
        shutil.copy2(self.fuzzer, self.unchanged)

    def fuzz(self, arguments):
        """Returns the case that fails and its failure, or None twice if no case
        fails."""
        result = subprocess.run(
            [self.fuzzer, "--fail-fast", "--jobs", self.jobs, "--out",
             self.directory / "cases"] + arguments,
            capture_output=True, text=True)
        if result.returncode == 0:
            return None, None
        # `  mismatch: path of the case`
        match = re.search(r"^  (stuck|mismatch|crash|hang): .*-(\d+)\.mlir$",
                          result.stdout, re.M)
        if not match:
            return None, "the fuzzer ends: " + result.stderr.strip()
        return match[2], {"stuck": "the verifiers"}.get(match[1],
                                                        "a " + match[1])

    def is_right(self, seed, case):
        """Returns true if a case does not fail in the unchanged sources."""
        return subprocess.run(
            [self.unchanged, "--seed", seed, "--first", case, "--count", "1",
             "--fail-fast", "--out", self.directory / "cases"],
            capture_output=True).returncode == 0


class FuzzedStrategies:
    """Check that lowers and executes random strategies."""
    target = "proteus-strategy-fuzz"
    mutants = "mutants.txt"

    def __init__(self, build, options):
        self.build = build
        self.options = options
        build.keep()

    def judge(self):
        """Returns True or False for a mistake that is found or not, and the case
        that found it."""
        options = self.options
        case, failure = self.build.fuzz(
            ["--seed", options.seed, "--count", options.count])
        if not failure:
            return False, f"NOTHING in {options.count} cases"
        if not case:
            return False, failure
        if not self.build.is_right(options.seed, case):
            return False, f"NOTHING: case {case} fails without it"
        return True, f"{failure} in case {case}"


class EngineTests:
    """Check by the unit tests of the engine."""
    target = "ProteusSimTests"
    mutants = "mutants-engine.txt"

    def __init__(self, build, options):
        self.program = build.directory / "bin" / self.target
        found, verdict = self.judge()
        if found:
            sys.exit(f"mutants: the sources fail their tests: {verdict}")

    def judge(self):
        try:
            result = subprocess.run([self.program, "--gtest_fail_fast"],
                                    capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return True, "a hang"
        if result.returncode == 0:
            return False, "NOTHING"
        failed = re.search(r"^\[  FAILED  \] (\S+)", result.stdout, re.M)
        return True, failed[1] if failed else "a crash"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copy", type=Path, required=True,
                        help="copy of the sources, which is changed")
    parser.add_argument("proof", nargs="?", default="lowering",
                        choices=["lowering", "engine"],
                        help="what is changed")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", default="300")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="run this mutant; may be repeated")
    options = parser.parse_args()
    Proof = EngineTests if options.proof == "engine" else FuzzedStrategies
    mutants = read_mutants(REPOSITORY / "scripts" / Proof.mutants)
    if options.only:
        unknown = set(options.only) - {mutant.name for mutant in mutants}
        if unknown:
            sys.exit(f"mutants: no mutant is called {', '.join(unknown)}")
        mutants = [m for m in mutants if m.name in options.only]

    copy_sources(options.copy)
    build = Build(options.copy.resolve(), options.jobs, Proof.target)
    if not build.configure() or not build.run():
        sys.exit(f"mutants: the sources do not build, see {build.log}")
    proof = Proof(build, options)
    sources = sorted(file for file in (options.copy / "lib").rglob("*")
                     if file.suffix in (".cpp", ".h"))
    width = max(len(mutant.name) for mutant in mutants) + 2
    print(f"{'mutant':{width}}seconds  caught by", flush=True)
    survivors = 0
    for mutant in mutants:
        begin = time.time()
        file, changed = find(mutant, sources)
        caught = False
        if file is None:
            verdict = "NOT APPLIED: " + changed
        else:
            original = file.read_text()
            file.write_text(changed)
            try:
                if not build.run():
                    verdict = f"NOT BUILT, see {build.log}"
                else:
                    caught, verdict = proof.judge()
            finally:
                file.write_text(original)
        survivors += not caught
        print(f"{mutant.name:{width}}{time.time() - begin:7.0f}  {verdict}",
              flush=True)
    print(f"{len(mutants)} mutants, {len(mutants) - survivors} caught, "
          f"{survivors} not")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
