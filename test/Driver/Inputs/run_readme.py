# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands in the README that begin with build/bin/, in a directory that
looks like the repository after the build, and fails if one fails."""

import re
import shutil
import subprocess
import sys
from pathlib import Path


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
        result = subprocess.run(command, shell=True, cwd=place,
                                capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{command}\n{result.stderr}")


main()
