// RUN: proteus-opt %s --lower-strategy="strategy=@contiguous" --simulate="kernels=roofline overlap=off report=%t-contiguous.json" -o /dev/null
// RUN: proteus-opt %s --lower-strategy="strategy=@zigzag" --simulate="kernels=roofline overlap=off report=%t-zigzag.json" -o /dev/null
// RUN: proteus-opt %s --lower-strategy="strategy=@ring" --simulate="kernels=roofline overlap=off report=%t-ring.json" -o /dev/null
// RUN: proteus-opt %s --lower-strategy="strategy=@ring_zigzag" --simulate="kernels=roofline overlap=off report=%t-ring-zigzag.json" -o /dev/null
// RUN: python3 %S/Inputs/causal_shares.py %t-contiguous.json %t-zigzag.json %t-ring.json %t-ring-zigzag.json

// The work of causal attention by what a device holds. Attention is long enough
// to be bound by its FLOPs.

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @f(%q: tensor<4x8192x1024xbf16> {nn.role = "input"}, %k: tensor<4x8192x1024xbf16> {nn.role = "input"},
               %v: tensor<4x8192x1024xbf16> {nn.role = "input"}) -> tensor<4x8192x1024xbf16> {
    %0, %1 = nn.attention "core"(%q, %k, %v) {heads = 8 : i64, causal} : (tensor<4x8192x1024xbf16>, tensor<4x8192x1024xbf16>, tensor<4x8192x1024xbf16>) -> (tensor<4x8192x1024xbf16>, tensor<4x8x8192xf32>)
    return %0 : tensor<4x8192x1024xbf16>
  }
  strategy.tree @contiguous for @f {
    mesh [cp = 4]
    split op [seq -> cp]
  }
  strategy.tree @zigzag for @f {
    mesh [cp = 4]
    split op [seq -> zigzag cp]
  }
  strategy.tree @ring for @f {
    mesh [cp = 4]
    split op [seq -> cp, key -> ring cp]
  }
  strategy.tree @ring_zigzag for @f {
    mesh [cp = 4]
    split op [seq -> zigzag cp, key -> ring zigzag cp]
  }
}
