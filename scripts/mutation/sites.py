# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places of a source file at which a rule makes a mistake, found in the syntax tree of
clang (python3-clang-22)."""

import json
import re
import shlex
from pathlib import Path

from clang.cindex import Config, CursorKind, Index, TypeKind

from mutation.edits import Wrapper

LIBCLANG = "/usr/lib/llvm-22/lib/libclang-22.so.1"

COMPARISONS = {
    "<": ("less", ["`<` becomes `<=`", "`<` becomes `>=`"]),
    ">": ("greater", ["`>` becomes `>=`", "`>` becomes `<=`"]),
    "<=": ("lessEqual", ["`<=` becomes `<`", "`<=` becomes `>`"]),
    ">=": ("greaterEqual", ["`>=` becomes `>`", "`>=` becomes `<`"]),
    "==": ("equal", ["`==` becomes `!=`"]),
    "!=": ("notEqual", ["`!=` becomes `==`"]),
}
ARITHMETIC = {
    "+": ("add", ["`+` becomes `-`"]),
    "-": ("subtract", ["`-` becomes `+`"]),
    "*": ("multiply", ["`*` becomes `/`"]),
    "/": ("divide", ["`/` becomes `*`"]),
    "%": ("remainder", ["`%` becomes `/`"]),
    "+=": ("addTo", ["`+=` becomes `-=`"]),
    "-=": ("subtractFrom", ["`-=` becomes `+=`"]),
    "*=": ("multiplyBy", ["`*=` becomes `/=`"]),
    "/=": ("divideBy", ["`/=` becomes `*=`"]),
}
CONJUNCTIONS = {"&&": "true", "||": "false"}

# Calls that change no result: removing them is no mistake.
NO_EFFECT = re.compile(r"\b(reserve|shrink_to_fit|llvm_unreachable\w*|report_fatal\w*)\(")

WITH_STATEMENTS = {
    CursorKind.COMPOUND_STMT, CursorKind.IF_STMT, CursorKind.FOR_STMT,
    CursorKind.WHILE_STMT, CursorKind.CXX_FOR_RANGE_STMT, CursorKind.CASE_STMT,
    CursorKind.DEFAULT_STMT,
}
FUNCTIONS = {
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION,
    CursorKind.FUNCTION_TEMPLATE,
}
CONSTANTS = {
    CursorKind.STATIC_ASSERT, CursorKind.ENUM_CONSTANT_DECL, CursorKind.ENUM_DECL,
    CursorKind.TEMPLATE_NON_TYPE_PARAMETER, CursorKind.TYPE_ALIAS_DECL,
    CursorKind.TYPEDEF_DECL,
}
NUMBERS = {
    CursorKind.INTEGER_LITERAL: re.compile(r"(0[xX])?[\da-fA-F']+([uUlLzZ]*)"),
    CursorKind.FLOATING_LITERAL: re.compile(r"[\d.']+([eE][+-]?\d+)?[fF]?"),
}


class Site:
    """A place with one or more mistakes: its function, the code, the rule of each
    mistake, and the change that makes it depend on the active mutant. In the text of
    the change, @ stands for the number of the first mistake."""

    def __init__(self, function, code, rules, wrapper):
        self.function = function
        self.code = " ".join(code.split())
        self.rules = rules
        self.wrapper = wrapper
        self.occurrence = 1  # among equal ones of the function


class Finder:
    """Visits the syntax tree of one file."""

    def __init__(self, name, data):
        self.name = name
        self.data = data
        self.sites = []

    def text(self, begin, end):
        return self.data[begin:end].decode()

    @staticmethod
    def range(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def add(self, function, rules, wrapper):
        begin, end = wrapper.begin, wrapper.end
        if begin < end:
            self.sites.append(Site(function, self.text(begin, end), rules, wrapper))

    def call(self, function, cursor, name, rules, rest=""):
        """Adds a site whose expression becomes the argument of a function."""
        self.add(function, rules, Wrapper(*self.range(cursor), f"mutant::{name}(@, ",
                                          rest + ")"))

    def operator(self, function, cursor, left, right):
        """Adds the sites of a binary operator."""
        begin, end = self.range(cursor)
        first, middle = self.range(left)
        last, stop = self.range(right)
        if (first, stop) != (begin, end) or not begin < middle <= last < end:
            return
        between = self.text(middle, last)
        symbol = re.sub(r"//[^\n]*|/\*.*?\*/|\s", "", between, flags=re.S)
        at = middle + between.find(symbol) if symbol else None
        if symbol in CONJUNCTIONS:
            neutral = CONJUNCTIONS[symbol]
            for operand in (left, right):
                # `a && b && c` is `(a && b) && c`: its operands are a, b and c.
                if not self.is_operator(operand, symbol):
                    self.call(function, operand, "dropped",
                              [f"this operand of `{symbol}` is dropped"],
                              f", {neutral}")
            return
        name, rules = COMPARISONS.get(symbol) or ARITHMETIC.get(symbol) or (None, None)
        if not name:
            return
        if symbol in ARITHMETIC and not (is_number(left) and is_number(right)):
            return
        self.add(function, rules, Wrapper(begin, end, f"mutant::{name}(@, ", ")",
                                          (at, at + len(symbol), ",")))

    def is_operator(self, cursor, symbol):
        while cursor.kind == CursorKind.UNEXPOSED_EXPR:
            inner = list(cursor.get_children())
            if len(inner) != 1:
                return False
            cursor = inner[0]
        return (cursor.kind == CursorKind.BINARY_OPERATOR and
                cursor.spelling == symbol)

    def visit_children(self, cursor, function):
        for i, child in enumerate(cursor.get_children()):
            # The label of a case is a constant.
            if not (cursor.kind == CursorKind.CASE_STMT and i == 0):
                self.visit(child, cursor, function)

    def visit(self, cursor, parent, function):
        """Adds the sites of a cursor and of all below it."""
        if self.file_of(cursor) != self.name or self.is_constant(cursor, parent):
            return
        kind = cursor.kind
        if kind in FUNCTIONS:
            function = qualified_name(cursor)
        if function:
            self.add_sites(cursor, parent, function)
        self.visit_children(cursor, function)

    @staticmethod
    def file_of(cursor):
        file = cursor.extent.start.file
        return file.name if file else None

    def is_constant(self, cursor, parent):
        """Returns true for code that the compiler evaluates."""
        if cursor.kind in CONSTANTS:
            return True
        begin, end = self.range(cursor)
        if cursor.kind == CursorKind.IF_STMT:
            return self.text(begin, begin + 14).split("(")[0] == "if constexpr "
        if cursor.kind in FUNCTIONS or cursor.kind == CursorKind.VAR_DECL:
            head = re.split(r"[={(]", self.text(begin, end), maxsplit=1)[0]
            return re.search(r"\bconstexpr\b", head) is not None
        if parent.kind in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL):
            return self.text(begin - 1, begin) == "["
        return False

    def add_sites(self, cursor, parent, function):
        kind = cursor.kind
        children = list(cursor.get_children())
        begin, end = self.range(cursor)
        if kind in (CursorKind.BINARY_OPERATOR,
                    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
            if len(children) == 2:
                self.operator(function, cursor, *children)
        elif kind == CursorKind.CALL_EXPR and cursor.spelling.startswith("operator"):
            if cursor.spelling[8:] in COMPARISONS and len(children) >= 2:
                self.operator(function, cursor, children[0], children[-1])
        elif kind in NUMBERS:
            text = self.text(begin, end)
            # `SmallVector<int, 2>` has a constant, too.
            if NUMBERS[kind].fullmatch(text) and self.text(end, end + 1) != ">":
                self.call(function, cursor, "constant", self.constant_rules(kind, text))
        elif kind == CursorKind.CXX_BOOL_LITERAL_EXPR:
            text = self.text(begin, end)
            if text in ("true", "false"):
                other = "false" if text == "true" else "true"
                self.call(function, cursor, "constant", [f"{text} becomes {other}"])
        elif kind == CursorKind.UNARY_OPERATOR:
            if self.text(begin, begin + 1) == "!":
                self.call(function, cursor, "negated", ["`!` is left out"])
        elif kind in (CursorKind.IF_STMT, CursorKind.WHILE_STMT):
            self.condition(function, children)
        elif kind == CursorKind.CONDITIONAL_OPERATOR and children:
            self.condition(function, children[:1])
        if parent.kind in WITH_STATEMENTS:
            call = cursor
            if kind == CursorKind.UNEXPOSED_EXPR and len(children) == 1:
                call = children[0]
            if call.kind == CursorKind.CALL_EXPR:
                self.statement(function, cursor, parent, call.spelling)

    @staticmethod
    def constant_rules(kind, text):
        if re.fullmatch(r"[0.']+[uUlLzZfF]*", text):
            return [f"{text} becomes 1"]
        if kind == CursorKind.FLOATING_LITERAL:
            return [f"{text} is doubled"]
        rules = [f"{text} becomes one more"]
        return rules + ["1 becomes 0"] if re.fullmatch(r"1[uUlLzZ]*", text) else rules

    def condition(self, function, children):
        """Adds the negation of a condition, unless an operator of it has a rule that
        does the same."""
        for child in children:
            if not child.kind.is_expression():
                continue
            begin, end = self.range(child)
            before = self.text(max(begin - 40, 0), begin).rstrip()
            after = self.text(end, end + 40).lstrip()
            core = child
            while core.kind == CursorKind.UNEXPOSED_EXPR:
                inner = list(core.get_children())
                if len(inner) != 1:
                    break
                core = inner[0]
            operators = set(COMPARISONS) | set(CONJUNCTIONS)
            if (core.kind == CursorKind.BINARY_OPERATOR and
                    core.spelling in operators or
                    core.kind == CursorKind.UNARY_OPERATOR and
                    self.text(begin, begin + 1) == "!" or
                    core.kind == CursorKind.CALL_EXPR and
                    core.spelling.startswith("operator") and
                    core.spelling[8:] in COMPARISONS):
                return
            if before[-1:] in "(;" and after[:1] == ")" or after[:1] == "?":
                self.call(function, child, "negated", ["the condition is negated"])
            return

    def statement(self, function, cursor, parent, name):
        """Adds the removal of a call that is a statement."""
        begin, end = self.range(cursor)
        text = self.text(begin, end)
        # The head of a loop has expressions after semicolons, too.
        block = parent.kind in (CursorKind.COMPOUND_STMT, CursorKind.CASE_STMT,
                                CursorKind.DEFAULT_STMT)
        before = self.text(max(begin - 80, 0), begin).rstrip()
        if (name.startswith("operator") or not text.endswith(")") or
                self.text(end, end + 1) != ";" or NO_EFFECT.search(text) or
                not re.search(r"[;{})]$|\belse$|:$" if block else r"\)$|\belse$",
                              before)):
            return
        self.add(function, ["the call is removed"], Wrapper(
            begin, end, "mutant::on(@) ? (void)0 : (void)(", ")"))


def is_number(cursor):
    kind = cursor.type.get_canonical().kind
    return TypeKind.BOOL.value < kind.value <= TypeKind.LONGDOUBLE.value


def qualified_name(cursor):
    """Returns the name of a function with its namespaces and classes, without those of
    the project."""
    parts = []
    while cursor and cursor.kind != CursorKind.TRANSLATION_UNIT:
        name = re.sub(r"<.*", "", cursor.spelling)
        if cursor.spelling.startswith("operator"):
            name = cursor.spelling
        if name and not name.startswith("("):
            parts.insert(0, name)
        cursor = cursor.semantic_parent
    while parts[:1] and parts[0] in ("mlir", "proteus") and len(parts) > 1:
        parts.pop(0)
    return "::".join(parts)


class Parser:
    """Parses the sources with the flags of a build of their copy."""

    def __init__(self, directory, copy):
        Config.set_library_file(LIBCLANG)
        self.index = Index.create()
        self.commands = {}
        for entry in json.loads((copy / "build/compile_commands.json").read_text()):
            # Generated headers remain in the copy.
            command = re.sub(rf"{re.escape(str(copy))}/(?!build/)", f"{directory}/",
                             entry["command"]).replace(f"-I{copy}/include ",
                                                       f"-I{directory}/include ")
            source = directory / Path(entry["file"]).relative_to(copy)
            self.commands[source] = (shlex.split(command), entry["directory"])

    def find(self, source, files):
        """Parses a source. Returns the sites of those of `files` that it is or
        includes, by file."""
        if source not in self.commands:
            return {}
        words, directory = self.commands[source]
        output = words.index("-o")
        arguments = [word for word in words[1:output] + words[output + 2:]
                     if word not in ("-c", str(source))]
        unit = self.index.parse(str(source),
                                arguments + ["-working-directory", directory])
        errors = [str(message) for message in unit.diagnostics if message.severity >= 3]
        if errors:
            raise SystemExit(f"mutants: clang does not understand {source}: {errors[0]}")
        names = {str(file): file for file in files}
        finders = {}
        for cursor in unit.cursor.get_children():
            name = Finder.file_of(cursor)
            if name not in names:
                continue
            if name not in finders:
                finders[name] = Finder(name, Path(name).read_bytes())
            finders[name].visit(cursor, unit.cursor, None)
        return {names[name]: numbered(finder.sites)
                for name, finder in finders.items()}


def numbered(sites):
    """Returns sites in the order of their places, each once, numbered among equal ones
    of their function."""
    found, counts = [], {}
    seen = set()
    for site in sorted(sites, key=lambda site: (site.wrapper.begin, -site.wrapper.end)):
        key = (site.wrapper.begin, site.wrapper.end, tuple(site.rules))
        if key in seen:
            continue
        seen.add(key)
        equal = (site.function, site.code, site.rules[0])
        counts[equal] = site.occurrence = counts.get(equal, 0) + 1
        found.append(site)
    return found
