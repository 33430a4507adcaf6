# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of the same step, in bf16 and with products in fp8."""
import json
import sys

bf16, f8 = (json.load(open(name)) for name in sys.argv[1:])
assert bf16["compute_type"] == "bf16" and f8["compute_type"] == "f8"
assert bf16["peak_memory_bytes"] == f8["peak_memory_bytes"]
saved = bf16["breakdown"]["compute"] - f8["breakdown"]["compute"]
# Three products of 2 x 8192^3 operations at 1978.9 instead of 989.4 TFLOP/s; three
# factors of 2 x 8192^2 bytes are read, and as much is written: each in one byte per
# element, as it is and transposed, at 3.35 TB/s. What else a kernel needs may differ.
products = 3 * 2 * 8192**3 / 1978.9e12
conversions = 3 * (2 + 2) * 8192**2 / 3.35e12
ideal = products - conversions
assert 0.5 * ideal < saved < 1.5 * ideal, (saved, ideal)
