#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of pages such as the README in a directory that looks like the
repository after the build, and fails if one fails or prints something else than the
page shows after it.

  page_outputs.py [--write] ROOT TOOL PLACE PAGE...

With --write the outputs in the pages are replaced by those of the commands.
TOOL is build/bin/proteus. Commands are the blocks marked `sh` and the code in sentences that begins with
build/bin/. Output is a block without a mark that follows such a block. Blocks marked
`mlir` are compared with the examples, or lowered if they are a strategy tree alone.
Links must lead to files and headings that exist.
"""

import difflib
import re
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.S | re.M)
MAIN_JOB = "examples/gpt2-small-tp-dp.mlir"


def without_scripts(commands):
    """Returns the commands without the set-up that scripts do before the tool."""
    def simulate(match):
        job = match[1].strip() or MAIN_JOB
        return (f"build/bin/proteus-opt --lower-strategy --simulate=summary {job} "
                "-o /dev/null ")
    commands = re.sub(r"^scripts/simulate\.sh([^|#\n]*)", simulate, commands,
                      flags=re.M)
    return re.sub(r"^scripts/test\.sh.*$", "", commands, flags=re.M)


def run(commands, place, given=None):
    """Runs the commands and returns their output."""
    result = subprocess.run(["bash", "-e", "-c", without_scripts(commands)], cwd=place,
                            input=given, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{commands}\n{result.stderr}")
    return result.stdout


def check_output(page, commands, printed, shown):
    if printed.strip("\n") != shown.strip("\n"):
        difference = difflib.unified_diff(shown.strip("\n").splitlines(),
                                          printed.strip("\n").splitlines(),
                                          page.name, "printed", lineterm="")
        sys.exit(commands + "\n" + "\n".join(difference))


def check_model(page, text, root, place):
    """A module is that of an example; a tree alone fits the example with its model."""
    examples = [path.read_text() for path in sorted((root / "examples").glob("*.mlir"))]
    tree = re.match(r"strategy\.tree @\w+ for (@\w+) ", text)
    if not tree:
        assert any(text in example for example in examples), \
            f"{page.name} shows a module that is no example:\n{text}"
        return
    example, = (e for e in examples if f"func.func {tree[1]}(" in e)
    model = example[:example.index("  strategy.tree ")]
    run("build/bin/proteus-opt --lower-strategy --simulate -o /dev/null", place,
        model + text + "}\n")


def run_blocks(page, text, root, place, write):
    """Runs the commands of a page, and compares what they print with the page or
    writes it there."""
    previous_end, commands, printed, compared = 0, None, None, 0
    written = ""
    for block in BLOCK.finditer(text):
        kind, body = block[1], block[2]
        follows = not text[previous_end:block.start()].strip()
        written += text[previous_end:block.start()]
        if kind == "" and follows and commands:
            compared += 1
            if write:
                written += "```\n" + printed.strip("\n") + "\n```\n"
            else:
                check_output(page, commands, printed, body)
        else:
            written += block[0]
        commands = None
        if kind == "sh":
            commands, printed = body, run(body, place)
        elif kind == "mlir":
            check_model(page, body, root, place)
        previous_end = block.end()
    assert compared, f"{page.name} shows no output"
    if write:
        page.write_text(written + text[previous_end:])


def headings(page):
    """Returns the anchors of a page as they are on the web."""
    names = re.findall(r"^#+ +(.*)$", BLOCK.sub("", page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in names}


def check_links(page, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", text)):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {link}, which does not exist"
        assert not anchor or anchor in headings(target), \
            f"{page.name} links to {link}, but there is no such heading"


def main():
    arguments = sys.argv[1:]
    write = arguments[0] == "--write"
    root, tool, place, *pages = map(Path, arguments[write:])
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "build").symlink_to(tool.parents[1])
    for name in ["examples", "clusters", "validation", "scripts"]:
        (place / name).symlink_to(root / name)
    for page in pages:
        text = page.read_text()
        check_links(page, text)
        run_blocks(page, text, root, place, write)
        # Commands inside sentences may go over several lines.
        for code in re.findall(r"`(build/bin/[^`]+ [^`]+)`", BLOCK.sub("", text)):
            run(" ".join(code.split()), place)


main()
