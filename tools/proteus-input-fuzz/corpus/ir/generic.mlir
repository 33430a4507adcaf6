"builtin.module"() ({
  "func.func"() <{arg_attrs = [{nn.path = "x", nn.role = "input"}, {nn.path = "y", nn.role = "input"}, {nn.path = "layers[*].fc.weight", nn.role = "parameter"}], function_type = (tensor<8x16xf32>, tensor<8x16xf32>, tensor<2x16x16xf32>) -> tensor<f32>, sym_name = "mlp"}> ({
  ^bb0(%arg0: tensor<8x16xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<2x16x16xf32>):
    %0 = "nn.repeat"(%arg0, %arg2) <{count = 2 : i64, first = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, path = "layers"}> ({
    ^bb0(%arg3: tensor<8x16xf32>, %arg4: tensor<16x16xf32>):
      %2 = "nn.linear"(%arg3, %arg4) <{path = "fc"}> : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %3 = "nn.relu"(%2) <{path = "act"}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
      "nn.yield"(%3) : (tensor<8x16xf32>) -> ()
    }) : (tensor<8x16xf32>, tensor<2x16x16xf32>) -> tensor<8x16xf32>
    %1 = "nn.mse_loss"(%0, %arg1) <{path = "loss"}> : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<f32>
    "func.return"(%1) : (tensor<f32>) -> ()
  }) {nn.training = #nn.training<optimizer = adam>} : () -> ()
  "strategy.tree"() <{model = @mlp, sym_name = "s"}> ({
    "strategy.mesh"() <{axes = [#strategy.axis<dp = 4>, #strategy.axis<tp = 2>]}> : () -> ()
    "strategy.split"() <{item = #strategy.item<op>, partition = #strategy.partition<[batch -> dp]>}> : () -> ()
    "strategy.node"() <{pattern = "layers"}> ({
      "strategy.split"() <{item = #strategy.item<op>, partition = #strategy.partition<[out -> tp]>}> : () -> ()
      "strategy.recompute"() : () -> ()
    }) : () -> ()
    "strategy.schedule"() <{micro_batches = 2 : i64, order = "1f1b"}> : () -> ()
  }) : () -> ()
}) {proteus.cluster = "dgx-a100", proteus.stack = "generic"} : () -> ()

