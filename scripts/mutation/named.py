# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mistakes that are written by hand, in scripts/mutants.txt and
scripts/mutants-engine.txt, and their places in the sources."""

import re
import sys

from mutation.cpp import find_functions, tokens_of
from mutation.edits import Wrapper


class Mistake:
    """A mistake: its name, the function that it changes, the rule that it breaks, and
    the code without and with it. The code is number `number` of `count` equal ones in the
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
        mutant = Mistake(*match.groups())
        if not tokens_of(mutant.before):
            sys.exit(f"{path}: {mutant.name} names no code to change")
        if not 1 <= mutant.number <= mutant.count:
            sys.exit(f"{path}: {mutant.name} asks for occurrence {mutant.number} of "
                     f"{mutant.count}")
        mutants.append(mutant)
    return mutants


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


def named_wrapper(mistake, data, begin, end):
    """Returns the change that makes a mistake depend on its number. An expression is
    chosen by `?:`, a statement by `if`."""
    before = data[begin:end].decode()
    after = " ".join(re.sub(r"//[^\n]*", "", mistake.after).split())
    # An operand is left out with its operator: the other value takes its place.
    leading = re.match(r"\s*(&&|\|\|)\s*", before)
    trailing = re.search(r"\s*(&&|\|\|)\s*$", before)
    if not after and (leading or trailing):
        begin += leading.end() if leading else 0
        end -= len(before) - trailing.start() if trailing else 0
        after = "true" if (leading or trailing)[1] == "&&" else "false"
    if not before.endswith((";", "}")):
        return Wrapper(begin, end, f"(mutant::on(@) ? ({after}) : (", "))")
    plain = " ".join(before.split())
    if after.startswith(plain):
        return Wrapper(begin, end, "", f" if (mutant::on(@)) {{ {after[len(plain):]} }}")
    if after.endswith(plain):
        return Wrapper(begin, end, f"if (mutant::on(@)) {{ {after[:-len(plain)]} }} ", "")
    return Wrapper(begin, end, f"if (mutant::on(@)) {{ {after} }} else {{ ", " }")


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
