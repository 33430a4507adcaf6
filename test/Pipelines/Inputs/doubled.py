# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model whose gradients are doubled N times between two split linears: doubled.py N"""
import sys

count = int(sys.argv[1])
T = "tensor<8x16x32xf32>"
print(f"""module attributes {{proteus.cluster = "dgx-a100"}} {{
  func.func @m(
      %x: {T} {{nn.role = "input", nn.path = "x"}},
      %labels: tensor<8x16xi32> {{nn.role = "input", nn.path = "labels"}},
      %w0: tensor<32x32xf32> {{nn.role = "parameter", nn.path = "fc0.weight"}},
      %w1: tensor<32x32xf32> {{nn.role = "parameter", nn.path = "fc1.weight"}})
      -> tensor<f32> attributes {{nn.training = #nn.training<optimizer = sgd>}} {{
    %0 = nn.linear "fc0"(%x, %w0) : ({T}, tensor<32x32xf32>) -> {T}""")
for i in range(count):
    print(f'    %{i + 1} = nn.add "double{i}"(%{i}, %{i}) : ({T}, {T}) -> {T}')
print(f"""    %y = nn.linear "fc1"(%{count}, %w1) : ({T}, tensor<32x32xf32>) -> {T}
    %loss, %lse = nn.cross_entropy "loss"(%y, %labels) : ({T}, tensor<8x16xi32>) -> (tensor<f32>, tensor<8x16xf32>)
    return %loss : tensor<f32>
  }}
  strategy.tree @t for @m {{
    mesh [tp = 8]
    split op [seq -> tp]
    node "fc1" {{ split op [seq -> [], out -> tp] }}
  }}
}}""")
