// A recommendation model (DLRM): embedding tables split over devices, the MLPs
// data parallel.
//
// The tables are too large to copy and their lookup does no work worth splitting, so
// whole tables are spread: each of 4 devices holds 2 of the 8 and looks up the whole
// batch in them. The dense part sees all features of a sample, so it is split by
// samples. Between both lies one exchange in each direction, where a device sends
// to every other its tables' vectors of the other's samples: an all-to-all of the
// looked-up vectors forward, and of their gradients backward. Gradients of tables stay
// where the tables are; only those of the MLPs are reduced.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/dlrm-table-parallel.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @dlrm(
      %dense: tensor<32x13xf32> {nn.role = "input", nn.path = "dense"},
      %ids: tensor<32x8x4xi32> {nn.role = "input", nn.path = "ids"},
      %clicked: tensor<32x1xf32> {nn.role = "input", nn.path = "clicked"},
      %tables: tensor<8x50x16xf32> {nn.role = "parameter", nn.path = "tables.weight"},
      %wb1: tensor<32x13xf32> {nn.role = "parameter", nn.path = "bottom.fc1.weight"},
      %bb1: tensor<32xf32> {nn.role = "parameter", nn.path = "bottom.fc1.bias"},
      %wb2: tensor<16x32xf32> {nn.role = "parameter", nn.path = "bottom.fc2.weight"},
      %bb2: tensor<16xf32> {nn.role = "parameter", nn.path = "bottom.fc2.bias"},
      %wt1: tensor<24x52xf32> {nn.role = "parameter", nn.path = "top.fc1.weight"},
      %bt1: tensor<24xf32> {nn.role = "parameter", nn.path = "top.fc1.bias"},
      %wt2: tensor<1x24xf32> {nn.role = "parameter", nn.path = "top.fc2.weight"},
      %bt2: tensor<1xf32> {nn.role = "parameter", nn.path = "top.fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %b1 = nn.linear "bottom.fc1"(%dense, %wb1, %bb1) : (tensor<32x13xf32>, tensor<32x13xf32>, tensor<32xf32>) -> tensor<32x32xf32>
    %b2 = nn.relu "bottom.act1"(%b1) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %b3 = nn.linear "bottom.fc2"(%b2, %wb2, %bb2) : (tensor<32x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> tensor<32x16xf32>
    %b4 = nn.relu "bottom.act2"(%b3) : (tensor<32x16xf32>) -> tensor<32x16xf32>

    %e = nn.embedding_bag "tables"(%ids, %tables) : (tensor<32x8x4xi32>, tensor<8x50x16xf32>) -> tensor<32x8x16xf32>
    %e1 = nn.reshape "features.flatten"(%e) : (tensor<32x8x16xf32>) -> tensor<32x128xf32>
    %f = nn.concat "features.join"(%b4, %e1) : (tensor<32x16xf32>, tensor<32x128xf32>) -> tensor<32x144xf32>
    %f1 = nn.reshape "features.vectors"(%f) : (tensor<32x144xf32>) -> tensor<32x9x16xf32>
    %z = nn.interaction "interaction"(%f1) : (tensor<32x9x16xf32>) -> tensor<32x36xf32>

    %t0 = nn.concat "top.join"(%b4, %z) : (tensor<32x16xf32>, tensor<32x36xf32>) -> tensor<32x52xf32>
    %t1 = nn.linear "top.fc1"(%t0, %wt1, %bt1) : (tensor<32x52xf32>, tensor<24x52xf32>, tensor<24xf32>) -> tensor<32x24xf32>
    %t2 = nn.relu "top.act1"(%t1) : (tensor<32x24xf32>) -> tensor<32x24xf32>
    %t3 = nn.linear "top.fc2"(%t2, %wt2, %bt2) : (tensor<32x24xf32>, tensor<1x24xf32>, tensor<1xf32>) -> tensor<32x1xf32>
    %p = nn.sigmoid "top.probability"(%t3) : (tensor<32x1xf32>) -> tensor<32x1xf32>
    %loss = nn.mse_loss "loss"(%p, %clicked) : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }

  strategy.tree @tables_over_devices for @dlrm {
    mesh [d = 4]
    split op [batch -> d]
    node "tables" { split op [batch -> [], table -> d] }
  }
}
