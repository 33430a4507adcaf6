// A new parameter reaches the layout in which it is stored in several steps. Parameters
// are gathered ahead of their use, but the last of these steps, a gather, can't run
// before the others, whose result it reads.

// RUN: proteus-opt %s --lower-strategy | FileCheck %s
// RUN: proteus-opt %s --lower-strategy --simulate="trace=%t.trace report=%t.json" -o /dev/null
// RUN: python3 %S/Inputs/check_update_order.py %t.trace %t.json
// Ranks that are not folded do the same.
// RUN: proteus-opt %s --lower-strategy --simulate="fold=none trace=%t-all.trace report=%t-all.json" -o /dev/null
// RUN: python3 %S/Inputs/check_update_order.py %t-all.trace %t-all.json

// CHECK:      dist.section update once {
// CHECK:        %[[NEW:.+]]:4 = nn.adam "embedding.weight"
// CHECK-NEXT:   %[[A:.+]] = dist.all_to_all %[[NEW]]#0 from 0 to 1 over {dp, tp} for parameter
// CHECK-NEXT:   %[[B:.+]] = dist.all_to_all %[[A]] from 1 to 0 over {tp} for parameter
// CHECK-NEXT:   dist.all_gather %[[B]] dim 1 over {dp} for parameter
module attributes {proteus.cluster = "dgx-a100:4"} {
  func.func @model(
      %ids: tensor<32x16xi32> {nn.role = "input", nn.path = "ids"},
      %table: tensor<4004x512xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %w: tensor<512x512xbf16> {nn.role = "parameter", nn.path = "fc.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %x = nn.embedding "embedding"(%ids, %table) : (tensor<32x16xi32>, tensor<4004x512xbf16>) -> tensor<32x16x512xbf16>
    %y = nn.linear "fc"(%x, %w) : (tensor<32x16x512xbf16>, tensor<512x512xbf16>) -> tensor<32x16x512xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%y, %ids) : (tensor<32x16x512xbf16>, tensor<32x16xi32>) -> (tensor<f32>, tensor<32x16xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @model {
    mesh [dp = 8, tp = 4]
    split op [batch -> dp]
    node "embedding" {
      split op [vocab -> tp]
      split state [vocab -> [tp, dp]]
    }
    node "fc" {
      split op [out -> tp]
    }
  }
}
