# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands in the README that begin with build/bin/, in a directory that
looks like the repository after the build, and fails if one fails, or if one prints
something else than the README shows behind it."""

import difflib
import re
import shutil
import subprocess
import sys
from pathlib import Path


def run(command, place):
    result = subprocess.run(command, shell=True, cwd=place,
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command}\n{result.stderr}")
    return result.stdout


def main():
    readme, root, place = map(Path, sys.argv[1:])
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in ["build", "examples", "clusters", "validation", "scripts"]:
        (place / name).symlink_to(root / name)
    text = readme.read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M)
    commands = [line.strip()
                for block in blocks
                for line in block.replace("\\\n", " ").splitlines()]
    # Commands inside sentences are in backquotes, perhaps over several lines.
    commands += [" ".join(code.split())
                 for code in re.findall(r"`(build/bin/[^`]+)`", text)]
    commands = [c for c in commands
                if c.startswith("build/bin/") and " " in c]
    assert len(commands) >= 4, commands
    for command in commands:
        run(command, place)
    # What is shown right behind a command.
    shown = re.findall(r"^```sh\n(build/bin/[^`]*)```\n\n```\n(.*?)^```", text,
                       re.S | re.M)
    assert shown, "the README shows no output"
    # The main job is shown with the script that builds first.
    main_job = re.search(r"^`scripts/simulate.sh (\S+)`.*?prints:\n\n```\n(.*?)^```",
                         text, re.S | re.M)
    shown.append((f"build/bin/proteus-opt {main_job[1]} --lower-strategy "
                  "--simulate=summary -o /dev/null", main_job[2]))
    for command, expected in shown:
        printed = run(command.replace("\\\n", " "), place)
        if printed.strip() != expected.strip():
            difference = difflib.unified_diff(
                expected.strip().splitlines(), printed.strip().splitlines(),
                "README", "printed", lineterm="")
            sys.exit(command + "\n" + "\n".join(difference))


main()
