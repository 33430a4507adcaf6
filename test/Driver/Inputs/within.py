# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command and ends with its exit code, or with 99 if it took more than so
many seconds of CPU time or MB: within.py SECONDS MB COMMAND..."""
import os
import subprocess
import sys

seconds, megabytes = float(sys.argv[1]), float(sys.argv[2])
child = subprocess.Popen(sys.argv[3:])
_, status, usage = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
cpu = usage.ru_utime + usage.ru_stime
memory = usage.ru_maxrss * 1024 / 1e6
if cpu > seconds or memory > megabytes:
    print(f"took {cpu:.2f} s of CPU time and {memory:.0f} MB")
    sys.exit(99)
sys.exit(child.returncode)
