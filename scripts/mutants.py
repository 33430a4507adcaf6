# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inserts one mistake after the other into a copy of the sources, builds it, and
runs the check that must find it: the fuzzer of strategies, or the tests of the
engine. scripts/mutants.sh runs it. With --list, prints the mistakes and their places
and changes nothing."""

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
    """A mistake: its name, the function it is made in, the rule it breaks, and the
    code without and with it. The code is number `number` of `count` equal ones in the
    function."""

    def __init__(self, name, function, rule, number, count, before, after):
        self.name = name
        self.function = function
        self.rule = " ".join(rule.split())
        self.number = int(number or 1)
        self.count = int(count or 1)
        self.before = before
        self.after = after.rstrip("\n")


def read_mutants(path):
    """Returns the mutants of a file; the head of mutants.txt describes the format."""
    text = "".join(
        line for line in path.read_text().splitlines(True)
        if not line.startswith("#")
    )
    mutants = []
    for entry in text.split("====\n"):
        if not entry.strip():
            continue
        match = re.fullmatch(
            r"\s*mutant (\S+)\n"
            r"function ([^\n]+)\n"
            r"rule (.+?)\n"
            r"(?:occurrence (\d+) of (\d+)\n)?"
            r"----\n(.*?)\n----\n(.*)", entry, re.S
        )
        if not match:
            sys.exit(f"{path}: not a mutant: {entry.strip()[:60]!r}")
        mutant = Mutant(*match.groups())
        if not tokens_of(mutant.before):
            sys.exit(f"{path}: {mutant.name} names no code to change")
        if not 1 <= mutant.number <= mutant.count:
            sys.exit(f"{path}: {mutant.name} asks for occurrence {mutant.number} of "
                     f"{mutant.count}")
        mutants.append(mutant)
    return mutants


TOKEN = re.compile(
    r"""
    (?P<skipped> \s+ | //(?:\\\n|[^\n])* | /\*.*?\*/
               | \#(?:\\\n|[^\n])* )                    # a directive
  | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
  | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
  | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
  | \.?\d(?:[eEpP][+-]|'?[\w.])*                        # a number
  | \w+ | :: | -> | .
    """, re.S | re.X)


def tokens_of(text):
    """Returns the tokens of C++ code, each with its position. Skips white space,
    comments and directives."""
    return [(match[0], match.start()) for match in TOKEN.finditer(text)
            if match["skipped"] is None]


class Function:
    """A definition of a function: its file, its name with the namespaces and classes
    around it, and the tokens from the end of its parameters to its last brace."""

    def __init__(self, file, parts, tokens):
        self.file = file
        self.parts = parts
        self.name = "::".join(parts)
        self.tokens = tokens

    def find(self, code):
        """Returns begin and end of each occurrence of some code, given as tokens."""
        words = [word for word, _ in self.tokens]
        hits = []
        for i in range(len(words) - len(code) + 1):
            if words[i:i + len(code)] == code:
                last, position = self.tokens[i + len(code) - 1]
                hits.append((self.tokens[i][1], position + len(last)))
        return hits


class Head:
    """The tokens between the end of one declaration and the brace of the next. Groups
    in parentheses, brackets, braces and angle brackets count as one token."""

    # Words before parentheses that hold no parameters.
    NO_NAMES = {"alignas", "decltype", "noexcept", "requires", "explicit",
                "__attribute__"}
    # Tokens between the parameters of a function and its body.
    TRAILERS = {"const", "volatile", "mutable", "noexcept", "override", "final", "&",
                "->", ":", "try", "requires", "[", "{"}

    def __init__(self, words):
        self.words = []
        self.positions = []
        i = 0
        while i < len(words):
            self.words.append(words[i])
            if words[i] == "<" and "operator" not in words[max(i - 2, 0):i]:
                i = self.end_of_angles(words, i)
            self.positions.append(i)
            i += 1
        while self.words[:2] == ["template", "<"]:
            del self.words[:2], self.positions[:2]

    @staticmethod
    def end_of_angles(words, begin):
        depth = 0
        for i in range(begin, len(words)):
            depth += (words[i] == "<") - (words[i] == ">")
            if depth == 0:
                return i
        return begin

    def qualified(self, last):
        """Returns the parts of the qualified name that ends at a token."""
        words = self.words
        if words[last] == "<":
            last -= 1
        parts = [words[last]]
        if words[last - 1:last] == ["~"]:
            last -= 1
            parts = ["~" + parts[0]]
        while last > 1 and words[last - 1] == "::":
            last -= 3 if words[last - 2] == "<" else 2
            if last < 0 or not is_word(words[last]):
                break
            parts.insert(0, words[last])
        return parts

    def scope(self):
        """Returns the names that a namespace or class adds, or None if the brace opens
        neither."""
        words = self.words
        if "namespace" in words[:2]:
            return [word for word in words if is_word(word) and
                    word not in ("namespace", "inline")]
        if words[:1] == ["extern"] and len(words) == 2:
            return []
        if "enum" in words or "=" in words:
            return None
        keywords = [i for i, word in enumerate(words)
                    if word in ("class", "struct", "union")]
        if not keywords:
            return None
        end = words.index(":") if ":" in words else len(words)
        names = [i for i in range(keywords[0] + 1, end)
                 if is_word(words[i]) and words[i] not in ("final", "alignas")]
        return self.qualified(names[-1]) if names else []

    def function(self):
        """Returns the parts of the name of the function whose body follows, and the
        number of the token of its parameters, or None twice."""
        words = self.words
        operator = words.index("operator") if "operator" in words else len(words)
        for i, word in enumerate(words):
            if word == "=" and i < operator:
                break
            if word != "(" or i == 0:
                continue
            if i + 1 < len(words) and words[i + 1] not in self.TRAILERS:
                continue
            if operator < i:
                symbol = "".join({"(": "()", "[": "[]"}.get(word, word)
                                 for word in words[operator + 1:i])
                name = "operator" + (" " if is_word(symbol) else "") + symbol
                return self.qualified(operator)[:-1] + [name], self.positions[i]
            name = i - 2 if words[i - 1] == "<" else i - 1
            if (name >= 0 and is_word(words[name]) and
                    words[name] not in self.NO_NAMES):
                return self.qualified(name), self.positions[i]
        return None, None

    def initializes(self):
        """Returns true if the brace opens the initializer of a member, in the list of
        a constructor."""
        return ":" in self.words and (is_word(self.words[-1]) or
                                      self.words[-1] == "<")


def is_word(token):
    return re.match(r"[A-Za-z_]", token) is not None


def matching_ends(tokens):
    """Returns the index of the closing bracket of every opening one."""
    ends = {}
    open_brackets = []
    for i, (token, _) in enumerate(tokens):
        if token in "([{":
            open_brackets.append(i)
        elif token in ")]}":
            opening = "([{"[")]}".index(token)]
            # A bracket without its partner, which macros may cause, is passed over.
            if any(tokens[j][0] == opening for j in open_brackets):
                while tokens[open_brackets[-1]][0] != opening:
                    open_brackets.pop()
                ends[open_brackets.pop()] = i
    return ends


def find_functions(file, text):
    """Returns the functions that a file defines."""
    tokens = tokens_of(text)
    ends = matching_ends(tokens)
    functions = []

    def scan(begin, end, scope):
        head = []  # indices of tokens
        i = begin
        while i < end:
            token = tokens[i][0]
            if token == ";" or token == "}":
                head = []
            elif token == ":" and head and tokens[head[-1]][0] in (
                    "public", "protected", "private"):
                head = []
            else:
                if token == "{" and i in ends:
                    head = enter(head, i, scope)
                else:
                    head.append(i)
                i = ends.get(i, i)
            i += 1

    def enter(indices, brace, scope):
        """Reads a block. Returns the head of the tokens behind it."""
        head = Head([tokens[i][0] for i in indices])
        parts, parameters = head.function()
        if parts:
            if head.initializes():
                return indices + [brace]
            begin = ends.get(indices[parameters], brace - 1) + 1
            functions.append(Function(file, scope + parts,
                                      tokens[begin:ends[brace] + 1]))
            return []
        names = head.scope()
        if names is None:
            return indices + [brace]
        scan(brace + 1, ends[brace], scope + names)
        return []

    scan(0, len(tokens), [])
    return functions


class Misfit(Exception):
    """The reason why a mutant does not fit the sources."""


class Sources:
    """The sources in which functions are searched."""
    DIRECTORIES = ("lib", "include")

    def __init__(self, directory):
        self.directory = directory
        self.texts = {
            file: file.read_text() for part in self.DIRECTORIES
            for file in sorted((directory / part).rglob("*"))
            if file.suffix in (".cpp", ".h")
        }
        self.functions = {}

    def named(self, name):
        """Returns the functions with a qualified name, which may leave out the first
        of its namespaces and classes. Overloads have the same name."""
        parts = [part.strip() for part in name.split("::")]
        last = re.findall(r"\w+", parts[-1])
        found = []
        for file, text in self.texts.items():
            # Only files that hold all words of the name are read as C++.
            if not all(word in text for word in parts[:-1] + last):
                continue
            if file not in self.functions:
                self.functions[file] = find_functions(file, text)
            found += [function for function in self.functions[file]
                      if function.parts[-len(parts):] == parts]
        return found

    def find(self, mutant):
        """Returns the function of a mutant, and begin and end of the code that it
        changes."""
        code = " ".join(mutant.before.split())
        functions = self.named(mutant.function)
        if not functions:
            raise Misfit(f"no function of {' or '.join(self.DIRECTORIES)} is called "
                         f"`{mutant.function}`, in which `{code}` should occur")
        tokens = [token for token, _ in tokens_of(mutant.before)]
        found = [(function, *hit) for function in functions
                 for hit in function.find(tokens)]
        if len(found) == mutant.count:
            return found[mutant.number - 1]
        places = sorted({str(function.file.relative_to(self.directory))
                         for function in functions})
        where = f"`{mutant.function}` ({', '.join(places)})"
        if not found:
            raise Misfit(f"`{code}` does not occur in {where}")

        def times(count):
            return "once" if count == 1 else f"{count} times"

        raise Misfit(f"`{code}` occurs {times(len(found))} in {where}, but should "
                     f"occur {times(mutant.count)}")

    def change(self, mutant):
        """Returns the file that a mutant changes and its text with the mistake."""
        function, begin, end = self.find(mutant)
        text = self.texts[function.file]
        return function.file, text[:begin] + mutant.after + text[end:]


def print_list(mutants, sources):
    """Prints the function, the file and the rule of every mutant. Returns 1 if one
    does not fit the sources."""
    rows, misfits = [("mutant", "function", "file", "rule")], []
    for mutant in mutants:
        try:
            function, *_ = sources.find(mutant)
            file = str(function.file.relative_to(sources.directory))
        except Misfit as misfit:
            file = "-"
            misfits.append(f"mutants: {mutant.name}: {misfit}")
        rows.append((mutant.name, mutant.function, file, mutant.rule))
    widths = [max(map(len, column)) + 2 for column in zip(*rows)]
    for row in rows:
        print("".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip())
    sys.stdout.flush()
    for misfit in misfits:
        print(misfit, file=sys.stderr)
    return 1 if misfits else 0


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


PROOFS = {"lowering": FuzzedStrategies, "engine": EngineTests}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true",
                        help="print function, file and rule of every mutant; fail if "
                             "one does not fit the sources")
    parser.add_argument("--copy", type=Path,
                        help="copy of the sources, which is changed")
    parser.add_argument("proof", nargs="?", choices=list(PROOFS),
                        help="part that is changed: lowering if left out, both with "
                             "--list")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", default="300")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="run this mutant; may be repeated")
    options = parser.parse_args()
    if not options.list and not options.copy:
        parser.error("--copy is missing")
    if options.proof:
        proofs = [PROOFS[options.proof]]
    else:
        proofs = list(PROOFS.values()) if options.list else [FuzzedStrategies]
    mutants = [mutant for proof in proofs
               for mutant in read_mutants(REPOSITORY / "scripts" / proof.mutants)]
    if options.only:
        unknown = set(options.only) - {mutant.name for mutant in mutants}
        if unknown:
            sys.exit(f"mutants: no mutant is called {', '.join(unknown)}")
        mutants = [m for m in mutants if m.name in options.only]
    if options.list:
        return print_list(mutants, Sources(REPOSITORY))

    Proof = proofs[0]
    copy_sources(options.copy)
    build = Build(options.copy.resolve(), options.jobs, Proof.target)
    if not build.configure() or not build.run():
        sys.exit(f"mutants: the sources do not build, see {build.log}")
    proof = Proof(build, options)
    sources = Sources(options.copy)
    width = max(len(mutant.name) for mutant in mutants) + 2
    print(f"{'mutant':{width}}seconds  caught by", flush=True)
    survivors = 0
    for mutant in mutants:
        begin = time.time()
        caught = False
        try:
            file, changed = sources.change(mutant)
        except Misfit as misfit:
            verdict = f"NOT APPLIED: {misfit}"
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
