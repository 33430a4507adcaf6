func.func @valid(%x: tensor<8x4xf32> {strategy.stage = 1 : i64}) -> tensor<8x4xf32>
    attributes {strategy.pipeline_axis = "pp", strategy.step = #dist.step<schedule = <order = gpipe>>} {
  %0 = nn.relu "a"(%x) {strategy.phase = #strategy.phase<backward>, strategy.stage = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
