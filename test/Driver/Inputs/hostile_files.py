# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes files that no one should have to read into a directory."""
import json
import os
import sys

directory = sys.argv[1]
os.makedirs(directory, exist_ok=True)
DECODER = {"family": "decoder", "layers": 2, "hidden": 64, "heads": 4,
           "vocab": 100, "seq": 32}


def write(name, *pieces):
    with open(os.path.join(directory, name), "w") as stream:
        for text, times in pieces:
            for _ in range(times):
                stream.write(text)


def model(file, **changes):
    write(file, (json.dumps({**DECODER, **changes}), 1))


def case(name, *changes):
    """Cases that differ from a good one in the value of one key."""
    cases = []
    for part, key, value in changes:
        one = {
            "id": "x-1",
            "hardware": {"gpu": "A100-SXM-80GB", "gpus": 8, "gpus_per_node": 8,
                         "intra_link": "NVLink", "inter_link": "none"},
            "model": {"kind": "transformer-decoder", "name": "m", "layers": 2,
                      "hidden": 64, "heads": 4, "vocab": 100, "seq": 32},
            "strategy": {"dp": 8, "tp": 1, "pp": 1, "micro_batch": 1,
                         "precision": "bf16"},
            "measured": {"iteration_time_s": 1.0},
        }
        if part:
            one[part][key] = value
        elif key:
            one[key] = value
        cases.append(one)
    write(name, (json.dumps(cases), 1))


MILLION = 1_000_000
# 100 MB each: a number too many, one string, white space, not closed.
write("array.json", ('{"family": "decoder", "junk": [', 1), ("1," * MILLION, 50),
      ("1]}", 1))
write("string.json", ('{"name": "', 1), ("a" * MILLION, 100), ('"}', 1))
write("space.json", (" " * MILLION, 100), ("{}", 1))
write("open.json", ("[" + "1," * MILLION, 50))
# Within the size of a file that is read.
write("numbers.json", ('{"family": "decoder", "junk": [', 1), ("1," * MILLION, 8),
      ("1]}", 1))
write("keys.json", ("{", 1), *((f'"k{i}": 1, ', 1) for i in range(MILLION)),
      ('"k": 1}', 1))
write("objects.json", ("[", 1), ("{}," * MILLION, 4), ("{}]", 1))
write("key.json", ('{"family": "decoder", "', 1), ("x" * MILLION, 1), ('": 1}', 1))
write("digits.json", ('{"layers": ', 1), ("1" * MILLION, 1), ("}", 1))
write("deep.json", ("[", 100_000))
write("deep.mlir", ("module {", 100_000))
write("deep-attribute.mlir", ("module attributes {a = ", 1), ("[", 100_000))
write("deep-tree.mlir", ("strategy.tree @s for @m {", 1), ("node \"a\" {", 2000),
      ("}", 2001))
write("signs.mlir", ("module attributes {a.b = affine_map<(d0) -> (", 1),
      ("- ", 100_000), ("d0)>} {}", 1))
write("dimensions.mlir", ("func.func private @m(tensor<", 1), ("1x", 20_000),
      ("f32>)", 1))
write("aliases.mlir", ("#a0 = [1]\n", 1),
      *((f"#a{i} = [#a{i - 1}, #a{i - 1}]\n", 1) for i in range(1, 60)),
      ("module attributes {a.b = #a59} {}", 1))
write("wide-tree.mlir",
      ('module attributes {proteus.cluster = "dgx-a100"} {\n'
       "func.func @m() { return }\nstrategy.tree @s for @m { mesh [dp = 8] ", 1),
      ('node "a" { split op [in -> dp] } ', 5000), ("}}", 1))
write("large.csv", ("op,dtype,pass,shape,time_us\n", 1),
      ("product,bf16,forward,m=1024 n=2304 k=768,3000\n", 400_000))
model("layers.json", layers=4097)
model("name.json", name="n" * 201)
write("empty-list.json", ('{"family": "dlrm", "bottom": []}', 1))
write("long-list.json", ('{"family": "dlrm", "rows": [', 1), ("1," * MILLION, 2),
      ("1]}", 1))

write("ds-array.json", ("[1]", 1))
write("ds-both.json",
      ('{"bf16": {"enabled": true}, "fp16": {"enabled": true}}', 1))
write("ds-zero.json", ('{"zero_optimization": 3}', 1))
write("ds-tape.json", ('{"zero_optimization": {"stage": 3, "offload_param": '
                       '{"device": "tape"}}}', 1))
write("ds-sizes.json", ('{"train_batch_size": 16, "gradient_accumulation_steps": '
                        '3, "train_micro_batch_size_per_gpu": 1}', 1))

case("good.cases", ("", "", ""))
case("text.cases", ("strategy", "tp", "two"))
case("zero.cases", ("strategy", "tp", 0))
case("flag.cases", ("strategy", "sequence_parallel", "yes"))
case("time.cases", ("measured", "iteration_time_s", "1 s"))
case("number.cases", ("", "strategy", 3))
case("twice.cases", ("", "", ""), ("", "", ""))
