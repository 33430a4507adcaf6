// A repeat within a layer reads a value of the same layer from outside, in another
// layout. A written-out repeat converts it directly before the kernel that reads it.
module attributes {proteus.cluster = {name = "two nodes", nodes = 2, devices_per_node = 8, device = {name = "device", peak_tflops = {f32 = 10}, memory_gib = 80, memory_bandwidth_gbps = 1000}, intra_node = {bandwidth_gbps = 300, latency_us = 0}, inter_node = {bandwidth_gbps = 25, latency_us = 0}}} {
  func.func @model(
      %a0: tensor<4x2xi32> {nn.role = "input", nn.path = "ids"},
      %a1: tensor<4x4xf32> {nn.role = "parameter", nn.path = "embedding.weight"},
      %a2: tensor<4xf32> {nn.role = "parameter", nn.path = "layers[0].norm_1.scale"},
      %a3: tensor<2x4xf32> {nn.role = "parameter", nn.path = "layers[0].attention.q.weight"},
      %a4: tensor<2x4xf32> {nn.role = "parameter", nn.path = "layers[0].attention.k.weight"},
      %a5: tensor<2x4xf32> {nn.role = "parameter", nn.path = "layers[0].attention.v.weight"},
      %a6: tensor<4x2xf32> {nn.role = "parameter", nn.path = "layers[0].attention.proj.weight"},
      %a7: tensor<1x4x4xf32> {nn.role = "parameter", nn.path = "layers[0].blocks[*].fc.weight"},
      %a8: tensor<4x4xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<4x2x4xf32> {
    %v0 = nn.embedding "embedding"(%a0, %a1) : (tensor<4x2xi32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
    %v1 = nn.rms_norm "layers[0].norm_1"(%v0, %a2) : (tensor<4x2x4xf32>, tensor<4xf32>) -> tensor<4x2x4xf32>
    %v2 = nn.linear "layers[0].attention.q"(%v1, %a3) : (tensor<4x2x4xf32>, tensor<2x4xf32>) -> tensor<4x2x2xf32>
    %v3 = nn.rope "layers[0].attention.q_rope"(%v2) {heads = 1 : i64, base = 50.0 : f64} : (tensor<4x2x2xf32>) -> tensor<4x2x2xf32>
    %v4 = nn.linear "layers[0].attention.k"(%v1, %a4) : (tensor<4x2x4xf32>, tensor<2x4xf32>) -> tensor<4x2x2xf32>
    %v5 = nn.rope "layers[0].attention.k_rope"(%v4) {heads = 1 : i64, base = 50.0 : f64} : (tensor<4x2x2xf32>) -> tensor<4x2x2xf32>
    %v6 = nn.linear "layers[0].attention.v"(%v1, %a5) : (tensor<4x2x4xf32>, tensor<2x4xf32>) -> tensor<4x2x2xf32>
    %v7, %v8 = nn.attention "layers[0].attention.core"(%v3, %v5, %v6) {heads = 1 : i64, kv_heads = 1 : i64} : (tensor<4x2x2xf32>, tensor<4x2x2xf32>, tensor<4x2x2xf32>) -> (tensor<4x2x2xf32>, tensor<4x1x2xf32>)
    %v9 = nn.linear "layers[0].attention.proj"(%v7, %a6) : (tensor<4x2x2xf32>, tensor<4x2xf32>) -> tensor<4x2x4xf32>
    %v10 = nn.add "layers[0].residual_1"(%v0, %v9) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
    %v12 = nn.repeat "layers[0].blocks" count 1 carry(%v11 = %v10 : tensor<4x2x4xf32>)
        slice(%v13 = %a7 : tensor<1x4x4xf32> to tensor<4x4xf32>)
        -> (tensor<4x2x4xf32>) {
      %v14 = nn.linear "fc"(%v11, %v13) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
      %v15 = nn.gelu "act"(%v14) : (tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %v16 = nn.mul "join"(%v15, %v10) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      %v17 = nn.add "residual"(%v11, %v16) : (tensor<4x2x4xf32>, tensor<4x2x4xf32>) -> tensor<4x2x4xf32>
      nn.yield %v17 : tensor<4x2x4xf32>
    }
    %v18 = nn.linear "head"(%v12, %a8) : (tensor<4x2x4xf32>, tensor<4x4xf32>) -> tensor<4x2x4xf32>
    return %v18 : tensor<4x2x4xf32>
  }
  strategy.tree @strategy for @model {
    mesh [x = 1, y = 2, z = 1]
    node "layers[*]" {
      node "residual_1" {
        split op [seq -> y]
      }
      node "blocks[*].join" {
        split op [hidden -> y]
      }
    }
  }
}
