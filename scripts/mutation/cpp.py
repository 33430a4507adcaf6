# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens of C++ sources, and the functions that a file defines."""

import re

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
