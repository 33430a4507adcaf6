// Tokens are those of the longest input: labels may be there for a part of them
// only.
// RUN: proteus-opt %s --lower-strategy --simulate=report=%t.json -o /dev/null
// RUN: python3 %S/Inputs/check_tokens.py %t.json 8

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @masked(
      %ids: tensor<4x8xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<4x2xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<12x6xf32> {nn.role = "parameter", nn.path = "embedding.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %x = nn.embedding "embedding"(%ids, %table) : (tensor<4x8xi32>, tensor<12x6xf32>) -> tensor<4x8x6xf32>
    %flat = nn.reshape "flat"(%x) : (tensor<4x8x6xf32>) -> tensor<4x48xf32>
    %some, %others = nn.split "masked"(%flat) : (tensor<4x48xf32>) -> (tensor<4x12xf32>, tensor<4x36xf32>)
    %rows = nn.reshape "rows"(%some) : (tensor<4x12xf32>) -> tensor<4x2x6xf32>
    %logits = nn.linear "head"(%rows, %table) : (tensor<4x2x6xf32>, tensor<12x6xf32>) -> tensor<4x2x12xf32>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<4x2x12xf32>, tensor<4x2xi32>) -> (tensor<f32>, tensor<4x2xf32>)
    return %loss : tensor<f32>
  }
  strategy.tree @s for @masked {
    mesh [dp = 2]
    split op [batch -> dp]
  }
}
