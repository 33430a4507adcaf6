// A recommendation model (DLRM): every embedding table whole on one device, the MLPs
// data parallel.
//
// Tables differ in size, so cutting a stack of them into equal parts does not help.
// Instead each table gets a device of its own choice, so that their memory is spread:
// the largest alone on device 0, the next on device 1, two on device 2 and two on
// device 3. A device looks up the whole batch in its tables. The dense part is split
// by samples. Between both lies one exchange in each direction: every device deals
// out the vectors of its tables to the devices of the samples, and the gradients of
// these vectors come back, each to the device of its table. Gradients of tables are
// complete where the table is; only those of the MLPs are reduced.
//
//   proteus-opt --lower-strategy --simulate examples/strategies/dlrm-table-placement.mlir

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @dlrm(
      %dense: tensor<32x13xf32> {nn.role = "input", nn.path = "dense"},
      %ids0: tensor<32x4xi32> {nn.role = "input", nn.path = "ids0"},
      %ids1: tensor<32x4xi32> {nn.role = "input", nn.path = "ids1"},
      %ids2: tensor<32x4xi32> {nn.role = "input", nn.path = "ids2"},
      %ids3: tensor<32x4xi32> {nn.role = "input", nn.path = "ids3"},
      %ids4: tensor<32x4xi32> {nn.role = "input", nn.path = "ids4"},
      %ids5: tensor<32x4xi32> {nn.role = "input", nn.path = "ids5"},
      %clicked: tensor<32x1xf32> {nn.role = "input", nn.path = "clicked"},
      %table0: tensor<400x16xf32> {nn.role = "parameter", nn.path = "tables[0].weight"},
      %table1: tensor<200x16xf32> {nn.role = "parameter", nn.path = "tables[1].weight"},
      %table2: tensor<120x16xf32> {nn.role = "parameter", nn.path = "tables[2].weight"},
      %table3: tensor<120x16xf32> {nn.role = "parameter", nn.path = "tables[3].weight"},
      %table4: tensor<60x16xf32> {nn.role = "parameter", nn.path = "tables[4].weight"},
      %table5: tensor<40x16xf32> {nn.role = "parameter", nn.path = "tables[5].weight"},
      %wb1: tensor<32x13xf32> {nn.role = "parameter", nn.path = "bottom.fc1.weight"},
      %bb1: tensor<32xf32> {nn.role = "parameter", nn.path = "bottom.fc1.bias"},
      %wb2: tensor<16x32xf32> {nn.role = "parameter", nn.path = "bottom.fc2.weight"},
      %bb2: tensor<16xf32> {nn.role = "parameter", nn.path = "bottom.fc2.bias"},
      %wt1: tensor<24x37xf32> {nn.role = "parameter", nn.path = "top.fc1.weight"},
      %bt1: tensor<24xf32> {nn.role = "parameter", nn.path = "top.fc1.bias"},
      %wt2: tensor<1x24xf32> {nn.role = "parameter", nn.path = "top.fc2.weight"},
      %bt2: tensor<1xf32> {nn.role = "parameter", nn.path = "top.fc2.bias"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %b1 = nn.linear "bottom.fc1"(%dense, %wb1, %bb1) : (tensor<32x13xf32>, tensor<32x13xf32>, tensor<32xf32>) -> tensor<32x32xf32>
    %b2 = nn.relu "bottom.act1"(%b1) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %b3 = nn.linear "bottom.fc2"(%b2, %wb2, %bb2) : (tensor<32x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> tensor<32x16xf32>
    %b4 = nn.relu "bottom.act2"(%b3) : (tensor<32x16xf32>) -> tensor<32x16xf32>

    %e0 = nn.embedding_bag "tables[0]"(%ids0, %table0) : (tensor<32x4xi32>, tensor<400x16xf32>) -> tensor<32x16xf32>
    %e1 = nn.embedding_bag "tables[1]"(%ids1, %table1) : (tensor<32x4xi32>, tensor<200x16xf32>) -> tensor<32x16xf32>
    %e2 = nn.embedding_bag "tables[2]"(%ids2, %table2) : (tensor<32x4xi32>, tensor<120x16xf32>) -> tensor<32x16xf32>
    %e3 = nn.embedding_bag "tables[3]"(%ids3, %table3) : (tensor<32x4xi32>, tensor<120x16xf32>) -> tensor<32x16xf32>
    %e4 = nn.embedding_bag "tables[4]"(%ids4, %table4) : (tensor<32x4xi32>, tensor<60x16xf32>) -> tensor<32x16xf32>
    %e5 = nn.embedding_bag "tables[5]"(%ids5, %table5) : (tensor<32x4xi32>, tensor<40x16xf32>) -> tensor<32x16xf32>
    %f0 = nn.concat "features.join0"(%b4, %e0) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
    %f1 = nn.concat "features.join1"(%f0, %e1) : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x48xf32>
    %f2 = nn.concat "features.join2"(%f1, %e2) : (tensor<32x48xf32>, tensor<32x16xf32>) -> tensor<32x64xf32>
    %f3 = nn.concat "features.join3"(%f2, %e3) : (tensor<32x64xf32>, tensor<32x16xf32>) -> tensor<32x80xf32>
    %f4 = nn.concat "features.join4"(%f3, %e4) : (tensor<32x80xf32>, tensor<32x16xf32>) -> tensor<32x96xf32>
    %f5 = nn.concat "features.join5"(%f4, %e5) : (tensor<32x96xf32>, tensor<32x16xf32>) -> tensor<32x112xf32>
    %f = nn.reshape "features.vectors"(%f5) : (tensor<32x112xf32>) -> tensor<32x7x16xf32>
    %z = nn.interaction "interaction"(%f) : (tensor<32x7x16xf32>) -> tensor<32x21xf32>

    %t0 = nn.concat "top.join"(%b4, %z) : (tensor<32x16xf32>, tensor<32x21xf32>) -> tensor<32x37xf32>
    %t1 = nn.linear "top.fc1"(%t0, %wt1, %bt1) : (tensor<32x37xf32>, tensor<24x37xf32>, tensor<24xf32>) -> tensor<32x24xf32>
    %t2 = nn.relu "top.act1"(%t1) : (tensor<32x24xf32>) -> tensor<32x24xf32>
    %t3 = nn.linear "top.fc2"(%t2, %wt2, %bt2) : (tensor<32x24xf32>, tensor<1x24xf32>, tensor<1xf32>) -> tensor<32x1xf32>
    %p = nn.sigmoid "top.probability"(%t3) : (tensor<32x1xf32>) -> tensor<32x1xf32>
    %loss = nn.mse_loss "loss"(%p, %clicked) : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }

  strategy.tree @tables_on_devices for @dlrm {
    mesh [d = 4]
    split op [batch -> d]
    node "tables[0]" { at [d = 0] }
    node "tables[1]" { at [d = 1] }
    node "tables[2]" { at [d = 2] }
    node "tables[3]" { at [d = 2] }
    node "tables[4]" { at [d = 3] }
    node "tables[5]" { at [d = 3] }
  }
}
