#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks reports of the examples against figures derived by hand.

  check_report.py mlp-dp REPORT
  check_report.py alexnet REPORT
  check_report.py linalg REPORT
  check_report.py gpt2 REPORT
  check_report.py gpt3 REPORT
  check_report.py same REPORT REPORT

Each derivation stands beside the check that uses it. Sizes are in bytes, times
in seconds.
"""

import json
import os
import sys

BF16, FP32 = 2, 4
A100_BF16, A100_FP32 = 312e12, 19.5e12  # dense operations per second
A100_MEMORY = 2039e9
KERNEL_OVERHEAD = 1.5e-6
NIC = 0.92 * 25e9  # what the protocols of the network leave of it
NIC_STEP = 14e-6
V100_FP16, V100_FP32 = 125e12, 15.7e12
V100_MEMORY = 900e9
V100_OVERHEAD = 2e-6

failures = 0


def check(what, good, got):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what}; got {got}")


def equal(what, got, expected):
    check(f"{what} is {expected}", got == expected, got)


def near(what, got, expected, tolerance):
    check(
        f"{what} is {expected:g} within {100 * tolerance:g} %",
        abs(got - expected) <= tolerance * abs(expected),
        got,
    )


def between(what, got, low, high):
    check(f"{what} is from {low:g} to {high:g}", low <= got <= high, got)


# Loads of links are counted in 65536ths of a rate and rounded up.
LOADS = 5e-5



def ring(wire, name):
    """Of all-reduces in one node: bytes per second that NCCL counts per device,
    low-latency base and step (seconds) and share of the wire, the same for the
    simple protocol with its fill cost (seconds per root of a second), the extra
    part and the efficiency. See docs/collectives.md."""
    root = os.path.dirname(os.path.abspath(__file__)) + "/../../.."
    with open(f"{root}/clusters/communication/{name}.json") as file:
        c = json.load(file)["all_reduce"]
    return (
        wire,
        c["low_base_us"] * 1e-6,
        c["low_hop_us"] * 1e-6,
        c["low_efficiency"],
        c["simple_base_us"] * 1e-6,
        c["simple_hop_us"] * 1e-6,
        c["simple_fill_root_us"] * 1e-3,
        c["extra"],
        c["efficiency"],
    )


A100_RING = ring(12 * 20e9, "ampere-nvlink")
V100_RING = ring(6 * 22e9, "volta-nvlink")


def all_reduce(size, ranks, constants=A100_RING):
    """The faster of the two protocols of a ring of 2 (n - 1) steps."""
    wire, low_base, low_step, low_share, base, step, fill, extra, share = constants
    steps = 2 * (ranks - 1)
    links = steps * size / ranks / wire
    time = (steps + extra) / share * size / ranks / wire
    # Not faster than the links themselves.
    return min(
        low_base + steps * low_step + max(time / low_share, links),
        base + steps * step + max(time + fill * time**0.5, links),
    )


def collectives(report, **fields):
    return [
        row
        for row in report["collectives"]
        if all(row[key] == value for key, value in fields.items())
    ]


def owners(part):
    return {
        owner: size
        for owner, size in part["memory_by_owner_bytes"].items()
        if size != 0
    }


def check_all(report):
    """What holds for every report."""
    equal("schema", report["schema"], "proteus-report/1")
    equal(
        "both iteration times",
        round(report["iteration_time_s"] * 1e12),
        report["iteration_time_ps"],
    )
    near(
        "samples per second",
        report["samples_per_s"] * report["iteration_time_s"],
        report["global_batch"],
        1e-9,
    )
    for part in [report] + report["stages"]:
        near(
            f"sum of the breakdown of {part.get('name', 'the slowest device')}",
            sum(part["breakdown"].values()),
            report["iteration_time_s"],
            1e-9,
        )
    for stage in report["stages"]:
        equal(
            f"owners of the memory of {stage['name']}",
            sum(stage["memory_by_owner_bytes"].values()),
            stage["peak_memory_bytes"],
        )
    equal(
        "peak memory",
        report["peak_memory_bytes"],
        max(stage["peak_memory_bytes"] for stage in report["stages"]),
    )
    equal(
        "fits",
        report["fits"],
        report["memory"]["needed_bytes"] <= report["memory_capacity_bytes"],
    )
    equal(
        "ranks of all stages",
        sum(stage["ranks"] for stage in report["stages"]),
        report["devices"],
    )
    stages = {stage["stage"] for stage in report["stages"]}
    between(
        "simulated devices",
        report["simulated_devices"],
        len(stages),
        3 * len(stages),
    )


def check_mlp(report):
    batch, width, hidden, classes, devices = 4096, 1024, 4096, 10, 8
    rows = batch // devices
    equal("devices", report["devices"], devices)
    equal("global batch", report["global_batch"], batch)

    # Every device holds all parameters and their gradients. The fullest moment
    # is the gradient of the activation: it reads the gradient that comes in and
    # writes the one that goes on, while the input, the labels, the result of
    # the activation and the loss are kept. Logits and their gradient are gone.
    parameters = hidden * width + hidden + classes * hidden + classes
    equal(
        "memory by owner",
        owners(report["peak_memory"]),
        {
            "parameters": FP32 * parameters,
            "gradients": FP32 * parameters,
            "activations": FP32 * (rows * width + rows + rows * hidden + 1),
            "temporaries": FP32 * 2 * rows * hidden,
        },
    )
    check("it fits", report["fits"], report["fits"])

    # fc2 is ready first. Its weight and bias (164 KB) do not fill the first
    # bucket of 1 MiB, the weight of fc1 does; the bias of fc1 is left.
    last = FP32 * hidden
    first = FP32 * parameters - last
    rows_found = [
        (row["kind"], row["axes"], row["group_size"], row["bytes"], row["count"])
        for row in report["collectives"]
    ]
    equal(
        "collectives",
        sorted(rows_found),
        sorted(("all_reduce", "dp", devices, size, 1) for size in (first, last)),
    )
    for bucket, size in zip(report["buckets"], (first, last)):
        near(
            f"time of {bucket['name']}",
            bucket["end_s"] - bucket["start_s"],
            all_reduce(size, devices),
            1e-6,
        )

    # fc1 has no gradient for its input: it is multiplied twice, fc2 three times.
    flops = 2 * batch * hidden * (2 * width + 3 * classes)
    near(
        "operations of the model",
        report["mfu"] * devices * A100_BF16 * report["iteration_time_s"],
        flops,
        0.02,
    )
    # At best the multiplications run at peak; at worst every kernel waits for
    # its operations, its bytes and its overhead in turn. The 12 kernels before
    # the update are fc1, relu, fc2, loss; the one that starts the gradients, the
    # gradient of the loss, both multiplications and the bias of fc2, the
    # gradient of relu, one multiplication and the bias of fc1. Tensors of the
    # size of the hidden layer are read or written 1 + 2 + 1 times in the forward
    # pass and 1 + 1 + 3 + 1 + 1 times in the backward pass, the input and the
    # weight of fc1 twice each; the rest is small.
    compute = report["breakdown"]["compute"]
    best = flops / devices / A100_FP32
    moved = FP32 * (11 * rows * hidden + 2 * rows * width + 2 * hidden * width)
    worst = best + moved / A100_MEMORY + 12 * KERNEL_OVERHEAD
    between("compute", compute, best, 1.02 * worst)
    # The update reads parameter and gradient and writes the parameter: 3 words.
    near(
        "optimizer",
        report["breakdown"]["optimizer"],
        3 * FP32 * parameters / A100_MEMORY + 4 * KERNEL_OVERHEAD,
        0.01,
    )
    # The last bucket starts when the first is done, and it is not hidden.
    reductions = sum(
        all_reduce(size, devices) for size in (first, last)
    )
    between(
        "exposed communication",
        report["breakdown"]["exposed_communication"],
        0.5 * reductions,
        reductions,
    )


def check_alexnet(report):
    batch, devices = 1024, 8
    rows = batch // devices
    equal("devices", report["devices"], devices)
    equal("global batch", report["global_batch"], batch)

    # Convolutions: channels in and out, edge of the kernel and of the result.
    # Every element of the result adds up as many products as the kernel has
    # elements.
    convolutions = [
        (3, 64, 11, 55),
        (64, 192, 5, 27),
        (192, 384, 3, 13),
        (384, 256, 3, 13),
        (256, 256, 3, 13),
    ]
    linears = [(9216, 4096), (4096, 4096), (4096, 1000)]
    products = [i * o * k * k * e * e for i, o, k, e in convolutions]
    products += [i * o for i, o in linears]
    equal("products per image", sum(products), 714188480)
    weights = [(i * o * k * k, o) for i, o, k, e in convolutions]
    weights += [(i * o, o) for i, o in linears]
    parameters = sum(weight + bias for weight, bias in weights)
    equal("parameters", parameters, 61100840)

    # Parameter, gradient and velocity of each, on every device.
    memory = report["peak_memory"]["memory_by_owner_bytes"]
    for owner in ("parameters", "gradients", "optimizer_state"):
        equal(f"memory of {owner}", memory[owner], FP32 * parameters)
    check("it fits", report["fits"], report["fits"])

    # The gradients of a layer are ready weight first, from the last layer to the
    # first. The weight of fc8 fills the first bucket of 1 MiB, its bias and the
    # weight of fc7 the second, the bias of fc7 and the weight of fc6 the third
    # (25 MiB each); all that is left does not fill another one.
    (w8, b8), (w7, b7), (w6, b6) = weights[7], weights[6], weights[5]
    rest = b6 + sum(weight + bias for weight, bias in weights[:5])
    sizes = [FP32 * count for count in (w8, b8 + w7, b7 + w6, rest)]
    equal("buckets", [bucket["bytes"] for bucket in report["buckets"]], sizes)
    equal("bytes of all buckets", sum(sizes), FP32 * parameters)
    equal(
        "collectives",
        sorted(
            (row["kind"], row["axes"], row["group_size"], row["bytes"], row["count"])
            for row in report["collectives"]
        ),
        sorted(("all_reduce", "dp", devices, size, 1) for size in sizes),
    )
    times = [
        all_reduce(size, devices, V100_RING) for size in sizes
    ]
    for bucket, time in zip(report["buckets"], times):
        near(f"time of {bucket['name']}", bucket["end_s"] - bucket["start_s"], time, LOADS)
    # The first three hide behind the convolutions; the last starts when the
    # backward pass is done.
    near(
        "exposed communication",
        report["breakdown"]["exposed_communication"],
        times[-1],
        LOADS,
    )

    # Two operations per product, for the result, for the gradient of the weight
    # and for that of the operand, which the first convolution does not need.
    flops = 2 * batch * (3 * sum(products) - products[0])
    near(
        "operations of the model",
        report["mfu"] * devices * V100_FP16 * report["iteration_time_s"],
        flops,
        0.01,
    )

    # At best the multiplications run at peak. At worst every kernel waits for
    # its operations, its bytes and its overhead in turn. Tensors per image:
    results = [o * e * e for i, o, k, e in convolutions] + [o for i, o in linears]
    pooled = {0: 64 * 27 * 27, 1: 192 * 13 * 13, 4: 256 * 6 * 6}
    operands = [3 * 224 * 224, pooled[0], pooled[1], results[2], results[3]]
    operands += [i for i, o in linears]
    # A layer reads operand and weight and writes the result; both gradients do
    # the same, and that of the bias reads one tensor.
    moved = sum(3 * x + 3 * y + y for x, y in zip(operands, results))
    # All but the last have an activation (2 tensors) with a gradient (3).
    moved += sum(5 * y for y in results[:-1])
    # A pooling reads one and writes the smaller one; its gradient reads both and
    # the gradient of the smaller one, and writes the larger.
    moved += sum(3 * results[i] + 3 * y for i, y in pooled.items())
    # Two dropouts (2 tensors and a mask of bytes) with their gradients.
    moved += sum(2 * 2.25 * x for x in (9216, 4096))
    # The loss and its gradient.
    moved += 4 * 1000
    weight_traffic = 3 * sum(weight for weight, bias in weights)
    # 8 layers, 7 activations, 3 poolings, 2 dropouts, the loss; the start of the
    # gradients; as many gradients, and 8 + 8 more for weights and biases, less
    # the one of the first operand.
    kernels = 21 + 1 + 21 + 16 - 1
    best = flops / devices / V100_FP32
    worst = (
        best
        + FP32 * (rows * moved + weight_traffic) / V100_MEMORY
        + kernels * V100_OVERHEAD
    )
    between("compute", report["breakdown"]["compute"], best, 1.01 * worst)
    # The update reads parameter, gradient and velocity and writes two of them.
    near(
        "optimizer",
        report["breakdown"]["optimizer"],
        5 * FP32 * parameters / V100_MEMORY + 16 * V100_OVERHEAD,
        1e-3,
    )


def check_linalg(report):
    batch, width, hidden, out, dp, tp = 2048, 1024, 4096, 256, 2, 4
    rows, columns = batch // dp, hidden // tp
    devices = dp * tp
    equal("devices", report["devices"], devices)
    equal("global batch", report["global_batch"], batch)

    # fc1 is split by columns, fc2 by rows. The partial sums of fc2 are reduced
    # once; the gradient of its operand is complete on every device, and the
    # input needs none. The weight of fc2, 1 MiB on every device, fills the first
    # bucket.
    parameters = [columns * out, width * columns]
    expected = [("all_reduce", "tp", tp, FP32 * rows * out, dp)]
    expected += [("all_reduce", "dp", dp, FP32 * count, tp) for count in parameters]
    equal(
        "collectives",
        sorted(
            (row["kind"], row["axes"], row["group_size"], row["bytes"], row["count"])
            for row in report["collectives"]
        ),
        sorted(expected),
    )
    equal(
        "buckets",
        [bucket["bytes"] for bucket in report["buckets"]],
        [FP32 * count for count in parameters],
    )

    # The fullest moment is the gradient of the operand of fc2: it reads the
    # gradient of the result and writes one of the hidden layer, while input,
    # target, both sides of the activation and the loss are kept.
    equal(
        "memory by owner",
        owners(report["peak_memory"]),
        {
            "parameters": FP32 * sum(parameters),
            "gradients": FP32 * sum(parameters),
            "activations": FP32 * (rows * (width + out + 2 * columns) + 1),
            "temporaries": FP32 * rows * (out + columns),
        },
    )
    check("it fits", report["fits"], report["fits"])

    # fc1 is multiplied twice, fc2 three times; the rest is element by element.
    flops = 2 * batch * hidden * (2 * width + 3 * out)
    near(
        "operations of the model",
        report["mfu"] * devices * A100_BF16 * report["iteration_time_s"],
        flops,
        0.01,
    )
    # At best the multiplications run at peak; at worst every kernel waits for
    # its operations, its bytes and its overhead in turn. All matrices with a
    # side of `width` or of the hidden layer have 1024 x 1024 elements on a
    # device: fc1, its gradient and the activation touch 4 + 4 + 3 + 4 of them,
    # fc2 1 + 2 + 1, and 4 are filled with zero. Those with a side of `out` have
    # a quarter: fc2 touches 3 + 2 + 3, the loss 2 + 4, and 3 are filled. There
    # are 7 kernels in the forward and 11 in the backward pass.
    large, small = rows * columns, rows * out
    best = flops / devices / A100_FP32
    worst = (
        best
        + FP32 * (23 * large + 17 * small) / A100_MEMORY
        + 18 * KERNEL_OVERHEAD
    )
    between("compute", report["breakdown"]["compute"], best, worst)
    near(
        "optimizer",
        report["breakdown"]["optimizer"],
        3 * FP32 * sum(parameters) / A100_MEMORY + 2 * KERNEL_OVERHEAD,
        1e-3,
    )
    # The reduction of the forward pass and the last bucket are waited for.
    reductions = all_reduce(FP32 * rows * out, tp)
    reductions += all_reduce(FP32 * parameters[1], dp)
    between(
        "exposed communication",
        report["breakdown"]["exposed_communication"],
        0.9 * reductions,
        reductions,
    )


class Transformer:
    """A GPT: what follows from its sizes and the degrees of parallelism."""

    def __init__(self, **sizes):
        self.__dict__.update(sizes)
        self.micro_rows = self.batch // self.micro // self.dp

    def flops(self):
        """72 B s l h^2 (1 + s / 6h + V / 12lh): forward and twice that for the
        gradients, attention counted as full squares."""
        b, s, l, h, v = self.batch, self.seq, self.layers, self.hidden, self.vocab
        return 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h))

    def layer_parameters(self):
        """Of one layer on one tensor-parallel rank. Split: qkv with its bias,
        fc1 with its bias, the weights of proj and fc2 (3 + 4 + 1 + 4 times
        h^2). Replicated: the biases of proj and fc2, and both layer norms."""
        h = self.hidden
        split = 12 * h * h + 3 * h + 4 * h
        return split // self.tp + 2 * h + 4 * h

    def stage_parameters(self, stage):
        """The first stage adds the embedding (split by vocabulary) and the
        positions (replicated), the last the final norm and the head."""
        h = self.hidden
        table = self.vocab * h // self.tp
        count = self.layers // self.pp * self.layer_parameters()
        if stage == 0:
            count += table + self.seq * h
        if stage == self.pp - 1:
            count += 2 * h + table
        return count

    def activation(self):
        """The residual stream of one micro-batch."""
        return BF16 * self.micro_rows * self.seq * self.hidden


def check_parameters(model, report):
    """bf16 parameters, fp32 gradients; a fp32 master copy and two moments."""
    for stage in report["stages"]:
        count = model.stage_parameters(stage["stage"])
        memory = stage["memory_by_owner_bytes"]
        equal(f"parameters of {stage['name']}", memory["parameters"], BF16 * count)
        equal(f"gradients of {stage['name']}", memory["gradients"], FP32 * count)
        equal(
            f"optimizer state of {stage['name']}",
            memory["optimizer_state"],
            2 * FP32 * count,
        )
        equal(
            f"master weights of {stage['name']}",
            memory["master_weights"],
            FP32 * count,
        )


def check_tensor_parallel(model, report, per_layer):
    """Per micro-batch: `per_layer` all-reduces of the residual stream in each
    layer, one behind the embedding (a device finds only its own words), one
    behind the head's gradient (a sum over the vocabulary). The loss exchanges
    the maximum, the sum and the picked logit of every row in fp32. Nothing
    else: norms are replicated, and so are their gradients."""
    groups = model.dp  # tensor-parallel groups of one stage
    rows = [
        (row["kind"], row["group_size"], row["bytes"], row["count"])
        for row in collectives(report, axes="tp")
    ]
    stream = (per_layer * model.layers + 2) * model.micro * groups
    equal(
        "tensor-parallel collectives",
        sorted(rows),
        sorted(
            [
                ("all_reduce", model.tp, model.activation(), stream),
                (
                    "all_reduce",
                    model.tp,
                    FP32 * model.micro_rows * model.seq,
                    3 * model.micro * groups,
                ),
            ]
        ),
    )


def check_data_parallel(model, report):
    """Every gradient is reduced once, in fp32, in all-reduces over dp; one
    bucket is one collective of each of the tp groups of its stage."""
    rows = collectives(report, axes="dp")
    equal("kinds over dp", {row["kind"] for row in rows}, {"all_reduce"})
    equal("group sizes over dp", {row["group_size"] for row in rows}, {model.dp})
    total = 0
    for stage in range(model.pp):
        size = FP32 * model.stage_parameters(stage)
        buckets = [
            bucket["bytes"]
            for bucket in report["buckets"]
            if bucket["name"].startswith(f"stage {stage} ")
        ]
        equal(f"bytes of the buckets of stage {stage}", sum(buckets), size)
        # All but the first and the last have reached 25 MiB.
        check(
            f"buckets of stage {stage} are full",
            all(bucket >= 25 << 20 for bucket in buckets[1:-1]),
            buckets,
        )
        total += model.tp * size
    equal("bytes over dp", sum(row["bytes"] * row["count"] for row in rows), total)
    equal(
        "number of collectives over dp",
        sum(row["count"] for row in rows),
        model.tp * len(report["buckets"]),
    )


def check_pipeline(model, report):
    """Each micro-batch crosses each border once forwards and once backwards,
    on every rank of the stage."""
    rows = collectives(report, kind="send_recv")
    expected = []
    for stage in range(model.pp - 1):
        for border in (f"stage {stage} -> {stage + 1}", f"stage {stage + 1} -> {stage}"):
            expected.append(
                (border, 2, model.activation(), model.micro * model.dp * model.tp)
            )
    equal(
        "messages",
        sorted((r["axes"], r["group_size"], r["bytes"], r["count"]) for r in rows),
        sorted(expected),
    )


def check_no_others(report):
    kinds = {(row["kind"], row["axes"].split()[0]) for row in report["collectives"]}
    known = {("all_reduce", "tp"), ("all_reduce", "dp"), ("send_recv", "stage")}
    check("there are no other collectives", kinds <= known, kinds)


def check_gpt2(report):
    model = Transformer(
        batch=32, seq=1024, layers=12, hidden=768, vocab=50304,
        dp=2, pp=1, tp=4, micro=1,
    )
    equal("devices", report["devices"], model.dp * model.pp * model.tp)
    near(
        "tokens per second",
        report["tokens_per_s"],
        report["samples_per_s"] * model.seq,
        1e-9,
    )
    # Norms, activations and sums add about 1 / h to the multiplications.
    near(
        "operations of the model",
        report["mfu_full_square"] * 8 * A100_BF16 * report["iteration_time_s"],
        model.flops(),
        0.01,
    )
    check_parameters(model, report)
    check_tensor_parallel(model, report, per_layer=4)
    check_data_parallel(model, report)
    check_no_others(report)
    check("it fits", report["fits"], report["fits"])
    # At best all multiplications run at peak, with half of each attention
    # square, and the all-reduces of the forward pass, half of all, are waited
    # for; those of the backward pass may hide behind weight gradients. At worst
    # nothing hides, and kernels that are bound by memory take as long again as
    # the multiplications, and half of that for the optimizer and the rest.
    half = model.flops() - 72 * 32 * 1024 * 12 * 768**2 * (1024 / (12 * 768))
    reductions = all_reduce(model.activation(), 4) * (4 * 12 + 2)
    between(
        "iteration time",
        report["iteration_time_s"],
        half / 8 / A100_BF16 + 0.5 * reductions,
        2.5 * half / 8 / A100_BF16 + reductions,
    )


def check_gpt3(report):
    model = Transformer(
        batch=1536, seq=2048, layers=96, hidden=12288, vocab=51200,
        dp=16, pp=8, tp=8, micro=96,
    )
    devices = model.dp * model.pp * model.tp
    equal("devices", report["devices"], devices)
    equal("micro-batches", report["micro_batches"], model.micro)
    near(
        "operations of the model",
        report["mfu_full_square"] * devices * A100_BF16 * report["iteration_time_s"],
        model.flops(),
        0.005,
    )
    check_parameters(model, report)
    # Two in the forward pass (behind proj and fc2), the same again when the
    # layer is recomputed, and two in the backward pass (behind qkv and fc1).
    check_tensor_parallel(model, report, per_layer=6)
    check_data_parallel(model, report)
    check_pipeline(model, report)
    check_no_others(report)
    check("it fits", report["fits"], report["fits"])

    # Stage s keeps the inputs of its 12 layers for p - s micro-batches; the
    # middle stages differ in nothing else.
    stages = {stage["stage"]: stage for stage in report["stages"]}
    inputs = model.layers // model.pp * model.activation()
    activations = [
        stages[s]["memory_by_owner_bytes"]["activations"] for s in range(model.pp)
    ]
    for s in range(1, model.pp - 2):
        equal(
            f"activations of stage {s} beyond those of stage {s + 1}",
            activations[s] - activations[s + 1],
            inputs,
        )
    for s in range(model.pp):
        between(
            f"activations of stage {s} beyond its micro-batches in flight",
            activations[s] - (model.pp - s) * inputs,
            0,
            # One layer at work: less than the 34 s b h bytes that one keeps
            # without recomputation, and the logits on the last stage.
            17 * model.activation() + FP32 * 2 * model.seq * model.vocab / model.tp,
        )

    # With recomputation the layers execute 96 B s l h^2 (1 + s / 12h), half of
    # each attention square; the pipeline runs m + p - 1 micro-batches long. The
    # published run of this model on as many devices reached 140 TFLOP/s per
    # device, counted with recomputation and full squares; a model without
    # contention has to be faster.
    b, s, l, h, v = 1536, 2048, 96, 12288, 51200
    executed = 96 * b * s * l * h * h
    best = executed * (1 + s / (12 * h)) / devices / A100_BF16
    published = (
        executed * (1 + s / (6 * h) + v / (16 * l * h)) / devices / 140e12
    )
    between(
        "iteration time",
        report["iteration_time_s"],
        best * (model.micro + model.pp - 1) / model.micro,
        published,
    )
    # 1F1B idles for p - 1 micro-batches: at least for what they compute, at most
    # for that and all their tensor-parallel all-reduces, 72 per micro-batch.
    reduction = all_reduce(model.activation(), model.tp)
    for stage in report["stages"]:
        parts = stage["breakdown"]
        micro_batch = (parts["compute"] + parts["recompute"]) / model.micro
        between(
            f"bubble of {stage['name']}",
            parts["bubble"],
            (model.pp - 1) * 0.95 * micro_batch,
            (model.pp - 1) * 1.05 * (micro_batch + 73 * reduction),
        )
    # The gradients of the first stage are complete last. Their reduction over
    # 16 nodes starts with its last backward pass and is mostly exposed.
    reductions = sum(
        2 * (model.dp - 1) * (bucket["bytes"] / model.dp / NIC + NIC_STEP)
        for bucket in report["buckets"]
        if bucket["name"].startswith("stage 0 ")
    )
    between(
        "exposed reduction of stage 0",
        stages[0]["exposed_reduction_s"],
        0.5 * reductions,
        reductions,
    )


def check_same(first, second):
    for key in ("iteration_time_ps", "peak_memory_bytes", "fits", "mfu", "hfu"):
        equal(key, second[key], first[key])
    for report in (first, second):
        report["rows"] = sorted(
            (row["kind"], row["axes"], row["group_size"], row["bytes"], row["count"])
            for row in report["collectives"]
        )
    equal("collectives", second["rows"], first["rows"])


def main(arguments):
    name, *paths = arguments
    reports = []
    for path in paths:
        with open(path) as file:
            reports.append(json.load(file))
    if name == "same":
        check_same(*reports)
    else:
        check_all(*reports)
        checks = {
            "mlp-dp": check_mlp,
            "alexnet": check_alexnet,
            "linalg": check_linalg,
            "gpt2": check_gpt2,
            "gpt3": check_gpt3,
        }
        checks[name](*reports)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
