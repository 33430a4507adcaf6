
#rows = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @mlp(
      %x: tensor<2048x1024xf32> {nn.role = "input", nn.path = "x"},
      %target: tensor<2048x256xf32> {nn.role = "input", nn.path = "target"},
      %w1: tensor<1024x4096xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<4096x256xf32> {nn.role = "parameter", nn.path = "fc2.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %zero = arith.constant 0.0 : f32

    %e0 = tensor.empty() : tensor<2048x4096xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
    %h = linalg.matmul ins(%x, %w1 : tensor<2048x1024xf32>, tensor<1024x4096xf32>)
                       outs(%z0 : tensor<2048x4096xf32>) -> tensor<2048x4096xf32> loc("fc1")
    %e1 = tensor.empty() : tensor<2048x4096xf32>
    %a = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%h : tensor<2048x4096xf32>) outs(%e1 : tensor<2048x4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      %m = arith.maximumf %in, %zero : f32
      linalg.yield %m : f32
    } -> tensor<2048x4096xf32> loc("relu")

    %e2 = tensor.empty() : tensor<2048x256xf32>
    %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2048x256xf32>) -> tensor<2048x256xf32>
    %p = linalg.matmul ins(%a, %w2 : tensor<2048x4096xf32>, tensor<4096x256xf32>)
                       outs(%z2 : tensor<2048x256xf32>) -> tensor<2048x256xf32> loc("fc2")

    %e3 = tensor.empty() : tensor<f32>
    %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
    %loss = linalg.generic {indexing_maps = [#rows, #rows, #scalar], iterator_types = ["reduction", "reduction"]}
        ins(%p, %target : tensor<2048x256xf32>, tensor<2048x256xf32>) outs(%z3 : tensor<f32>) {
    ^bb0(%in: f32, %t: f32, %sum: f32):
      %d = arith.subf %in, %t : f32
      %s = arith.mulf %d, %d : f32
      %n = arith.addf %sum, %s : f32
      linalg.yield %n : f32
    } -> tensor<f32> loc("loss")
    return %loss : tensor<f32>
  }

  strategy.tree @tp4_dp2 for @mlp {
    mesh [dp = 2, tp = 4]
    split op [batch -> dp]
    node "fc1" { split op [d1 -> tp] }
    node "fc2" { split op [d2 -> tp] }
  }
}
