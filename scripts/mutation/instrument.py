# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A copy of the sources with all mutants in it, built once."""

import dataclasses
import hashlib
import json
import os
import re
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from mutation.edits import Wrapper, apply
from mutation.named import Misfit, Sources, named_wrapper

REPOSITORY = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent

# The sources that rules change, and the names that functions must have there.
ROOMS = [
    ("lib/Transforms/*/**", ""), ("lib/Sim/**", ""), ("lib/Cost/**", ""),
    ("lib/Network/**", ""), ("lib/Plan/**", ""),
    ("lib/Dialect/NN/**", r"[gG]radient"),
    ("lib/Dialect/Dist/*Layout*", ""), ("lib/Dialect/Dist/AxisBundles*", ""),
    ("lib/Dialect/Dist/Reshard*", ""), ("lib/Dialect/Dist/Schedule*", ""),
    ("lib/Dialect/Dist/Steps*", ""), ("lib/Dialect/Dist/Programs*", ""),
]
# Numbers that every file has for its mutants.
NUMBERS_PER_FILE = 4096
TARGETS = ["proteus", "proteus-opt", "proteus-strategy-fuzz", "proteus-fold-fuzz",
           "proteus-calibrate", "proteus-lsp-server", "ProteusPlugin", "unittests/all",
           "mlir-doc"]
FLAGS = "-w -ferror-limit=0 -Wno-c++11-narrowing -fno-diagnostics-color"


@dataclasses.dataclass
class Mutant:
    """One mistake. Mutants of one site share its first number."""
    number: int
    site: int
    room: str
    file: str
    function: str
    code: str
    occurrence: int
    rule: str
    name: str = ""
    proof: str = ""

    def key(self):
        return (self.function, self.rule, self.code, self.occurrence)


def room_of(file):
    parts = Path(file).parts
    return "/".join(parts[1:3] if parts[1] in ("Transforms", "Dialect") else parts[1:2])


def files_of(directory):
    """Returns the sources that rules change, with the names of functions."""
    files = {}
    for pattern, names in ROOMS:
        folder, _, name = pattern.rpartition("/")
        found = directory.glob(pattern + "/*") if name == "**" else \
            directory.glob(pattern)
        for file in sorted(found):
            if file.suffix in (".cpp", ".h"):
                files[file] = names
    return files


def hash_of(*texts):
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text if isinstance(text, bytes) else text.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def parsed_by(file, sources):
    """Returns a source that contains a header: that of its name, or the first of its
    folder that includes it."""
    if file.suffix == ".cpp":
        return file
    if file.with_suffix(".cpp") in sources:
        return file.with_suffix(".cpp")
    for source in sources:
        if source.suffix == ".cpp" and f'"{file.name}"' in source.read_text():
            return source
    return None


def find_sites_of(copy, source, files):
    """Returns the sites of files by file. `source` is one of them or includes them."""
    from mutation.sites import Parser
    if source is None:
        return {}
    if not hasattr(find_sites_of, "parser"):
        find_sites_of.parser = Parser(REPOSITORY, copy)
    return find_sites_of.parser.find(source, files)


class Copy:
    """The copy of the sources and its build."""

    def __init__(self, directory, jobs):
        self.directory = directory.resolve()
        self.build = self.directory / "build"
        self.jobs = jobs
        self.log = self.directory / "build.log"
        self.state_file = self.directory / "sites.json"
        self.state = {"files": {}, "indices": {}}
        if self.state_file.exists():
            self.state = json.loads(self.state_file.read_text())
        self.mutants = []
        self.named = []  # (mistake, its file, its wrapper)

    def save(self):
        self.state_file.write_text(json.dumps(self.state))

    def write(self, name, content):
        """Writes a file if it changes, so that few are built again."""
        target = self.directory / name
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def copy_others(self, changed):
        """Copies all files but those in which mutants are."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
        names = {name for name in listed.split("\0")
                 if name and (REPOSITORY / name).is_file()}
        for name in names - changed:
            content = (REPOSITORY / name).read_bytes()
            if name == "CMakeLists.txt":
                content = content.replace(b"add_subdirectory(include/Proteus)", b"""
add_library(ProteusMutants SHARED mutants/Mutants.cpp)
link_libraries(ProteusMutants)
add_subdirectory(include/Proteus)""")
            if name == "test/lit.cfg.py":
                content += b"""
for variable in ("PROTEUS_MUTANT", "PROTEUS_MUTANTS_EXECUTED"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
if "PROTEUS_MUTANTS_SCRATCH" in os.environ:
    config.test_exec_root = os.environ["PROTEUS_MUTANTS_SCRATCH"]
"""
            self.write(name, content)
            (self.directory / name).chmod((REPOSITORY / name).stat().st_mode)
        count = NUMBERS_PER_FILE * (len(self.state["indices"]) + 1)
        for name, target in (("Mutants.h", "include/Proteus/Mutants.h"),
                             ("Mutants.cpp", "mutants/Mutants.cpp")):
            text = (HERE / "runtime" / name).read_text()
            self.write(target, text.replace("PROTEUS_MUTANTS_COUNT",
                                            str(count)).encode())
            names.add(target)
        for part in ["lib", "include", "tools", "unittests", "test"]:
            for file in (self.directory / part).rglob("*"):
                name = str(file.relative_to(self.directory))
                if file.is_file() and name not in names:
                    file.unlink()

    def ninja(self, *targets):
        environment = dict(os.environ)
        # With the same base directory, ccache finds objects of other builds.
        environment.setdefault("CCACHE_BASEDIR", str(REPOSITORY.parent))
        with open(self.log, "w") as log:
            return subprocess.run(
                ["ninja", "-C", self.build, "-k0", "-j", str(self.jobs), *targets],
                stdout=log, stderr=log, env=environment).returncode == 0

    def configure(self):
        if (self.build / "build.ninja").exists():
            return
        self.build.mkdir(parents=True, exist_ok=True)
        result = subprocess.run([
            "cmake", "-G", "Ninja", "-S", self.directory, "-B", self.build,
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
            f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DPROTEUS_PRECOMPILED_HEADERS=ON",
            "-DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir",
            "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
            "-DCMAKE_C_COMPILER_LAUNCHER=ccache",
            "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DLLVM_USE_LINKER=lld",
        ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise SystemExit(f"mutants: the copy is not configured:\n{result.stdout}")

    def find_sites(self, files):
        """Finds the sites of the files that have changed."""
        rules = hash_of((HERE / "sites.py").read_bytes())
        hashes = {file: hash_of(file.read_bytes(), names, rules)
                  for file, names in files.items()}
        # Headers are read with a source that includes them.
        stale = {}
        for file in files:
            if self.entry(file).get("hash") != hashes[file]:
                stale.setdefault(parsed_by(file, files), []).append(file)
        with ProcessPoolExecutor(self.jobs) as pool:
            found = pool.map(find_sites_of, [self.directory] * len(stale),
                             stale.keys(), stale.values())
            for wanted, sites in zip(stale.values(), found):
                for file in wanted:
                    self.state["files"][self.name(file)] = {
                        "hash": hashes[file], "dropped": [],
                        "sites": [[site.function, site.code, site.occurrence,
                                   site.rules, vars(site.wrapper)]
                                  for site in sites.get(file, [])
                                  if re.search(files[file],
                                               f"{file.stem} {site.function}")]}
        self.save()

    @staticmethod
    def name(file):
        return str(Path(file).relative_to(REPOSITORY))

    def entry(self, file):
        return self.state["files"].get(self.name(file), {})

    def prepare(self, mistakes):
        """Finds the sites, and writes and configures the copy. `mistakes` are those
        that are written by hand."""
        files = files_of(REPOSITORY)
        sources = Sources(REPOSITORY)
        for mistake in mistakes:
            try:
                function, begin, end = sources.find(mistake)
            except Misfit as misfit:
                raise SystemExit(f"mutants: {mistake.name}: {misfit}")
            text = sources.texts[function.file]
            begin, end = (len(text[:place].encode()) for place in (begin, end))
            self.named.append((mistake, function.file, named_wrapper(
                mistake, text.encode(), begin, end)))
        every = list(files) + sorted({file for _, file, _ in self.named} - set(files))
        for file in every:
            self.state["indices"].setdefault(self.name(file),
                                             len(self.state["indices"]) + 1)
        self.copy_others({self.name(file) for file in every})
        for file in every:
            if not (self.directory / self.name(file)).exists():
                self.write(self.name(file), file.read_bytes())
        self.configure()
        targets = subprocess.run(["ninja", "-C", self.build, "-t", "targets", "all"],
                                 check=True, capture_output=True, text=True).stdout
        generated = re.findall(r"^(include/.*\.inc): ", targets, re.M)
        if not self.ninja("ProteusHeaders", *generated):
            raise SystemExit(f"mutants: the headers do not build, see {self.log}")
        self.find_sites(files)
        self.files = every

    def instrument(self):
        """Writes the files with all mutants that have not been dropped."""
        self.mutants = []
        for file in self.files:
            self.instrument_file(file)
        self.save()

    def instrument_file(self, file):
        name, entry = self.name(file), self.entry(file)
        data = file.read_bytes()
        number = self.state["indices"][name] * NUMBERS_PER_FILE
        wrappers = []
        for mistake, place, wrapper in self.named:
            if place == file:
                wrappers.append(wrapper.numbered(number))
                self.mutants.append(Mutant(
                    number, number, room_of(name), name, mistake.function,
                    " ".join(mistake.before.split()), mistake.number, mistake.rule,
                    mistake.name, mistake.proof))
                number += 1
        by_hand = list(wrappers)
        for i, (function, code, occurrence, rules, fields) in enumerate(
                entry.get("sites", [])):
            wrapper = Wrapper(**fields)
            first = number
            number += len(rules)
            if i in entry["dropped"] or any(wrapper.crosses(other)
                                            for other in by_hand):
                continue
            wrappers.append(wrapper.numbered(first))
            self.mutants += [Mutant(first + k, first, room_of(name), name, function,
                                    code, occurrence, rule)
                             for k, rule in enumerate(rules)]
        text = b'#include "Proteus/Mutants.h"\n#line 1\n' + apply(data, wrappers)
        self.write(name, text)

    def drop(self):
        """Drops the sites that do not compile according to the log. Returns their
        number."""
        places = re.findall(r"^(\S+?):(\d+):(\d+): (?:error|note): ",
                            self.log.read_text(), re.M)
        count = 0
        for name, line, column in sorted(set(places)):
            path = (self.build / name).resolve()
            if not path.is_relative_to(self.directory):
                continue
            key = str(path.relative_to(self.directory))
            entry = self.state["files"].get(key)
            if not entry:
                continue
            lines = path.read_bytes().decode().split("\n")[2:]
            text = lines[int(line) - 1].encode()
            numbers = re.match(rb"mutant::\w+\((\d+)", text[int(column) - 1:])
            numbers = [numbers[1]] if numbers else re.findall(rb"mutant::\w+\((\d+)",
                                                              text)
            firsts = {int(number) for number in numbers}
            for i, first in self.firsts(key, entry):
                if first in firsts and i not in entry["dropped"]:
                    entry["dropped"].append(i)
                    count += 1
        return count

    def firsts(self, name, entry):
        """Yields the index and the first number of every site of a file."""
        number = self.state["indices"][name] * NUMBERS_PER_FILE
        number += sum(self.name(place) == name for _, place, _ in self.named)
        for i, site in enumerate(entry["sites"]):
            yield i, number
            number += len(site[3])

    def compile(self):
        """Builds all programs of the tests."""
        self.instrument()
        while not self.ninja(*TARGETS):
            dropped = self.drop()
            if not dropped:
                raise SystemExit(f"mutants: the copy does not build, see {self.log}")
            print(f"mutants: {dropped} sites that do not compile are left out",
                  flush=True)
            self.instrument()
