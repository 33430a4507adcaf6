# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command on each part of a file that expects an error, and fails unless the
command does. -verify-diagnostics compares messages only: a pass that prints an error
and goes on passes such a test.

  each_fails.py TOOL FILE [FLAG...]"""

import re
import subprocess
import sys

tool, file, *flags = sys.argv[1:]
parts = [part for part in re.split(r"^// -----.*\n", open(file).read(), flags=re.M)
         if "expected-error" in part]
if not parts:
    sys.exit(f"{file} expects no error")
for number, part in enumerate(parts):
    result = subprocess.run([tool, "-", *flags], input=part, text=True,
                            capture_output=True)
    if result.returncode != 1:
        sys.exit(f"part {number} ends with status {result.returncode}:\n{part}\n"
                 f"{result.stderr}")
