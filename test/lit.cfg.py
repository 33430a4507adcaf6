# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configuration of the lit tests. The build writes lit.site.cfg.py, which sets
# the directories and loads this file.

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "Proteus"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.proteus_obj_root, "test")

# Jobs verify the IR after each pass, as proteus-opt does.
config.environment["PROTEUS_VERIFY_EACH"] = "1"

tools = [
    ToolSubst("proteus-opt", unresolved="fatal"),
    ToolSubst("proteus-lsp-server", unresolved="fatal"),
    ToolSubst("proteus-strategy-fuzz", unresolved="fatal"),
    ToolSubst("proteus-job-fuzz", unresolved="fatal"),
    ToolSubst("proteus-calibrate", unresolved="fatal"),
    ToolSubst("mlir-opt", unresolved="fatal"),
    ToolSubst("FileCheck", unresolved="fatal"),
    ToolSubst("not", unresolved="fatal"),
    ToolSubst("split-file", unresolved="fatal"),
]
config.substitutions.append(("%examples", config.proteus_examples_dir))
config.substitutions.append(("%scripts", config.proteus_scripts_dir))
config.substitutions.append(("%plugin", config.proteus_plugin))
# The pages that the build generates.
config.substitutions.append(
    ("%generated", os.path.join(config.proteus_obj_root, "docs")))
# The name `proteus` alone would also match in the names of the other tools.
config.substitutions.append(
    ("%proteus", os.path.join(config.proteus_tools_dir, "proteus")))
config.substitutions.append(
    ("%root", os.path.dirname(config.proteus_examples_dir)))

# The passes of --lower-strategy in their order, without the checks between them.
# For tests that stop at a pass: %{to-P} are all passes up to P, %{before-P} those
# before it. Pipelines/order.test compares the order with that of the product.
lowering = [
    "match-strategy",
    "settle-repeats",
    "build-training-step",
    "propagate-strategy",
    "insert-collectives",
    "split-stages",
    "fuse-exchanges",
    "chunk-products",
    "fuse-units",
    "fuse-gradients",
    "canonicalize",
    "cse",
    "schedule-pipeline",
]
for end, last in enumerate(lowering):
    flags = ["--" + name for name in lowering]
    config.substitutions.append(("%{to-" + last + "}", " ".join(flags[: end + 1])))
    config.substitutions.append(("%{before-" + last + "}", " ".join(flags[:end])))

llvm_config.add_tool_substitutions(
    tools, [config.proteus_tools_dir, config.llvm_tools_dir]
)
