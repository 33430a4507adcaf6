// RUN: proteus-opt %s --lower-strategy --simulate -o /dev/null

// The new parameter comes to where it is stored in several steps. Gathering it is
// the last of them and can't be moved in front of the others.
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
