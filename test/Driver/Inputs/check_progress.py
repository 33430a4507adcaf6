# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a long command shows its progress on a terminal, with the time that it
will still take, and that a short command shows none.

  check_progress.py PROTEUS
"""

import os
import pty
import re
import subprocess
import sys
import time

MAX_SECONDS = 120


def run(command, until):
    """Returns the exit code of a command and what it shows on its terminal. The
    command is stopped when it has shown the pattern `until`."""
    terminal, errors = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
    os.close(errors)
    shown, start = "", time.monotonic()
    try:
        while not re.search(until, shown) and time.monotonic() < start + MAX_SECONDS:
            chunk = os.read(terminal, 4096)
            if not chunk:
                break
            shown += chunk.decode()
    except OSError: # the command has ended
        pass
    if re.search(until, shown):
        process.kill()
    return process.wait(), shown


proteus = sys.argv[1]
job = [proteus, "simulate", "--model", "llama3-8b", "--cluster", "dgx-h100", "--tp", "8",
       "--zero", "1", "--seq", "8192"]
code, shown = run(job + ["--gpus", "1024", "--global-batch", "8192", "--fold", "none"],
                  r"simulating: \d+ %, about \d+ s left")
assert shown.startswith("\rproteus: "), shown
assert re.search("simulating: ", shown), shown

start = time.monotonic()
code, shown = run(job + ["--gpus", "8"], "simulating")
assert time.monotonic() - start > 1 or (code == 0 and shown == ""), (code, shown)
