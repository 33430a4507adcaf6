
module attributes {
  proteus.cluster = "dgx-a100:128",
  proteus.iteration_time_ms = 12.5 : f64,
  proteus.samples_per_second = 80.0 : f64,
  proteus.peak_memory_mb = 0.0 : f64,
  proteus.fits = true
} {
  func.func @model(%w: i32 {proteus.path = "embedding.weight"}) attributes {proteus.path = "model"} {
    return {proteus.path = "layers[3].attention.qkv"}
  }
}

module attributes {proteus.cluster = {devices = 8}} {
}

func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.linear "fc"(%x, %w) {proteus.compute = f8E4M3FN, proteus.pieces = 2} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.matmul {proteus.compute = f8E4M3FN} ins(%0, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%x : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
