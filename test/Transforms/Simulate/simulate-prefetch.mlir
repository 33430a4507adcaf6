// How far ahead parameters are gathered decides what the network can hide and
// what memory it takes. Eight layers of 4096 x 4096 bf16 parameters, 33.6 MB each,
// stored in eight parts, for 4096 rows per device; gathering one takes less time than
// computing with it.

// RUN: sed "s/DEPTH/0/" %s | proteus-opt --lower-strategy --simulate=report=%t-0.json -o /dev/null
// RUN: sed "s/DEPTH/1/" %s | proteus-opt --lower-strategy --simulate=report=%t-1.json -o /dev/null
// RUN: sed "s/DEPTH/2/" %s | proteus-opt --lower-strategy --simulate=report=%t-2.json -o /dev/null
// RUN: sed "s/DEPTH/4/" %s | proteus-opt --lower-strategy --simulate=report=%t-4.json -o /dev/null
// RUN: sed "s/prefetch depth = DEPTH//" %s | proteus-opt --lower-strategy --simulate=report=%t-default.json -o /dev/null
// RUN: python3 %S/Inputs/check_prefetch.py %t-0.json %t-1.json %t-2.json %t-4.json
// RUN: diff %t-1.json %t-default.json

// Layers that are written out are limited in the same way.
// RUN: sed "s/DEPTH/2/" %s | proteus-opt --unroll-repeats --lower-strategy --simulate=report=%t-flat.json -o /dev/null
// RUN: python3 %S/Inputs/check_prefetch.py --same %t-2.json %t-flat.json

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @layers(
      %x: tensor<32768x4096xbf16> {nn.role = "input", nn.path = "x"},
      %t: tensor<32768xi32> {nn.role = "input", nn.path = "labels"},
      %w0: tensor<4096x4096xbf16> {nn.role = "parameter", nn.path = "in.weight"},
      %ws: tensor<8x4096x4096xbf16> {nn.role = "parameter", nn.path = "layers[*].fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %i = nn.linear "in"(%x, %w0) : (tensor<32768x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<32768x4096xbf16>
    %y = nn.repeat "layers" count 8
        carry(%h = %i : tensor<32768x4096xbf16>)
        slice(%w = %ws : tensor<8x4096x4096xbf16> to tensor<4096x4096xbf16>)
        -> (tensor<32768x4096xbf16>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32768x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<32768x4096xbf16>
      %1 = nn.relu "act"(%0) : (tensor<32768x4096xbf16>) -> tensor<32768x4096xbf16>
      nn.yield %1 : tensor<32768x4096xbf16>
    }
    %loss, %lse = nn.cross_entropy "loss"(%y, %t) : (tensor<32768x4096xbf16>, tensor<32768xi32>) -> (tensor<f32>, tensor<32768xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @layers {
    mesh [dp = 8]
    split op [batch -> dp]
    node "layers[*]" {
      split weight [0 -> dp]
      split gradient [0 -> dp]
      prefetch depth = DEPTH
    }
  }
}
