// RUN: proteus-opt %s -split-input-file --fuse-exchanges \
// RUN:   | FileCheck %s --implicit-check-not="= dist.scatter" --implicit-check-not="= dist.gather" --implicit-check-not="= dist.exchange"

#mesh = #dist.mesh<[dp = 2, tp = 2]>
#on_0 = #dist.layout<#mesh, [{}], at = [dp = 0]>
#on_1 = #dist.layout<#mesh, [{}], at = [dp = 1]>
#rows = #dist.layout<#mesh, [{dp}]>

// All are dealt out before the first reader.
// CHECK-LABEL: dist.program @forward
// CHECK:      %[[X:.*]]:2 = dist.exchange %{{.*}}, %{{.*}} over {dp} for activation {proteus.path = "a"}
// CHECK-NEXT: nn.add "sum"(%[[X]]#0, %[[X]]#1)
dist.program @forward mesh #mesh (%a: tensor<8xf32, #on_0>, %b: tensor<8xf32, #on_1>)
    -> (tensor<8xf32, #rows>) {
  %r = dist.section forward {
    %0 = dist.scatter %a dim 0 over {dp} for activation {proteus.path = "a"} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %1 = dist.scatter %b dim 0 over {dp} for activation {proteus.path = "b"} : tensor<8xf32, #on_1> -> tensor<8xf32, #rows>
    %2 = nn.add "sum"(%0, %1) : (tensor<8xf32, #rows>, tensor<8xf32, #rows>) -> tensor<8xf32, #rows>
    dist.yield %2 : tensor<8xf32, #rows>
  }
  dist.return %r : tensor<8xf32, #rows>
}

// A gather that is written after the first reader joins, because its operand is
// computed before.
// CHECK-LABEL: dist.program @backward
// CHECK:      %[[X:.*]]:2 = dist.exchange %arg0, %arg0 over {dp}
// CHECK-NEXT: nn.relu "a"(%[[X]]#0)
// CHECK-NEXT: nn.relu "b"(%[[X]]#1)
dist.program @backward mesh #mesh (%g: tensor<8xf32, #rows>)
    -> (tensor<8xf32, #on_0>, tensor<8xf32, #on_1>) {
  %r:2 = dist.section forward {
    %0 = dist.gather %g dim 0 over {dp} for activation : tensor<8xf32, #rows> -> tensor<8xf32, #on_0>
    %1 = nn.relu "a"(%0) : (tensor<8xf32, #on_0>) -> tensor<8xf32, #on_0>
    %2 = dist.gather %g dim 0 over {dp} for activation : tensor<8xf32, #rows> -> tensor<8xf32, #on_1>
    %3 = nn.relu "b"(%2) : (tensor<8xf32, #on_1>) -> tensor<8xf32, #on_1>
    dist.yield %1, %3 : tensor<8xf32, #on_0>, tensor<8xf32, #on_1>
  }
  dist.return %r#0, %r#1 : tensor<8xf32, #on_0>, tensor<8xf32, #on_1>
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 2]>
#on_0 = #dist.layout<#mesh, [{}], at = [dp = 0]>
#on_1 = #dist.layout<#mesh, [{}], at = [dp = 1]>
#on_tp = #dist.layout<#mesh, [{}], at = [tp = 1]>
#rows = #dist.layout<#mesh, [{dp}]>
#columns = #dist.layout<#mesh, [{tp}]>
#all = #dist.layout<#mesh, [{}]>

// The second scatter needs the result of the first.
// CHECK-LABEL: dist.program @dependence
// CHECK:      dist.scatter
// CHECK-NEXT: nn.relu "a"
// CHECK-NEXT: dist.gather
// CHECK-NEXT: nn.relu "b"
// CHECK-NEXT: dist.scatter
dist.program @dependence mesh #mesh (%a: tensor<8xf32, #on_0>)
    -> (tensor<8xf32, #rows>) {
  %r = dist.section forward {
    %0 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %1 = nn.relu "a"(%0) : (tensor<8xf32, #rows>) -> tensor<8xf32, #rows>
    %2 = dist.gather %1 dim 0 over {dp} : tensor<8xf32, #rows> -> tensor<8xf32, #on_1>
    %3 = nn.relu "b"(%2) : (tensor<8xf32, #on_1>) -> tensor<8xf32, #on_1>
    %4 = dist.scatter %3 dim 0 over {dp} : tensor<8xf32, #on_1> -> tensor<8xf32, #rows>
    dist.yield %4 : tensor<8xf32, #rows>
  }
  dist.return %r : tensor<8xf32, #rows>
}

// Other axes and other purposes stay apart.
// CHECK-LABEL: dist.program @apart
// CHECK-DAG: dist.scatter %arg0 dim 0 over {dp} for activation
// CHECK-DAG: dist.scatter %arg1 dim 0 over {tp} for activation
// CHECK-DAG: dist.scatter %arg2 dim 0 over {dp} for parameter
dist.program @apart mesh #mesh (%a: tensor<8xf32, #on_0>, %b: tensor<8xf32, #on_tp>, %c: tensor<8xf32, #on_1>)
    -> (tensor<8xf32, #rows>, tensor<8xf32, #columns>, tensor<8xf32, #rows>) {
  %r:3 = dist.section forward {
    %0 = dist.scatter %a dim 0 over {dp} for activation : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %1 = dist.scatter %b dim 0 over {tp} for activation : tensor<8xf32, #on_tp> -> tensor<8xf32, #columns>
    %2 = dist.scatter %c dim 0 over {dp} for parameter : tensor<8xf32, #on_1> -> tensor<8xf32, #rows>
    dist.yield %0, %1, %2 : tensor<8xf32, #rows>, tensor<8xf32, #columns>, tensor<8xf32, #rows>
  }
  dist.return %r#0, %r#1, %r#2 : tensor<8xf32, #rows>, tensor<8xf32, #columns>, tensor<8xf32, #rows>
}

// A scatter and a gather stay apart, and so do a collective with a purpose and one
// without.
// CHECK-LABEL: dist.program @kinds
// CHECK:      dist.scatter %arg0 dim 0 over {dp} for activation
// CHECK:      dist.gather %arg1 dim 0 over {dp} for activation
// CHECK:      dist.scatter %arg0 dim 0 over {dp} :
dist.program @kinds mesh #mesh (%a: tensor<8xf32, #on_0>, %b: tensor<8xf32, #rows>)
    -> (tensor<8xf32, #rows>, tensor<8xf32, #on_1>, tensor<8xf32, #rows>) {
  %r:3 = dist.section forward {
    %0 = dist.scatter %a dim 0 over {dp} for activation : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %1 = dist.gather %b dim 0 over {dp} for activation : tensor<8xf32, #rows> -> tensor<8xf32, #on_1>
    %2 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    dist.yield %0, %1, %2 : tensor<8xf32, #rows>, tensor<8xf32, #on_1>, tensor<8xf32, #rows>
  }
  dist.return %r#0, %r#1, %r#2 : tensor<8xf32, #rows>, tensor<8xf32, #on_1>, tensor<8xf32, #rows>
}

// Sections run at times of their own, and the body of a repeat runs several times:
// blocks stay apart.
// CHECK-LABEL: dist.program @blocks
// CHECK:      dist.section forward
// CHECK-NEXT:   dist.scatter %arg0
// CHECK-NEXT:   nn.repeat
// CHECK-NEXT:     dist.scatter %arg0
// CHECK:      dist.section backward
// CHECK-NEXT:   dist.scatter %arg0
dist.program @blocks mesh #mesh (%a: tensor<8xf32, #on_0>) -> (tensor<8xf32, #rows>, tensor<8xf32, #rows>) {
  %f = dist.section forward {
    %0 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %1 = nn.repeat "layers" count 2 carry(%h = %0 : tensor<8xf32, #rows>) -> (tensor<8xf32, #rows>) {
      %2 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
      %3 = nn.add "sum"(%h, %2) : (tensor<8xf32, #rows>, tensor<8xf32, #rows>) -> tensor<8xf32, #rows>
      nn.yield %3 : tensor<8xf32, #rows>
    }
    dist.yield %1 : tensor<8xf32, #rows>
  }
  %b = dist.section backward {
    %0 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    dist.yield %0 : tensor<8xf32, #rows>
  }
  dist.return %f, %b : tensor<8xf32, #rows>, tensor<8xf32, #rows>
}

// The third needs the first, by way of the repeat that reads it, and so can't
// stand before that reader as the exchange does; the second can.
// CHECK-LABEL: dist.program @dependence_through_a_body
// CHECK:      %[[X:.*]]:2 = dist.exchange %arg0, %arg0 over {dp}
// CHECK-NEXT: %[[R:.*]] = nn.repeat "layers" count 2 carry(%{{.*}} = %arg1 :
// CHECK-NEXT:   nn.add "sum"(%{{.*}}, %[[X]]#0)
// CHECK:      %[[A:.*]] = dist.all_gather %[[R]]
// CHECK-NEXT: %[[G:.*]] = dist.restrict %[[A]]
// CHECK-NEXT: dist.scatter %[[G]]
dist.program @dependence_through_a_body mesh #mesh (%a: tensor<8xf32, #on_0>, %b: tensor<8xf32, #rows>) -> (tensor<8xf32, #rows>, tensor<8xf32, #rows>) {
  %f:2 = dist.section forward {
    %0 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %1 = nn.repeat "layers" count 2 carry(%h = %b : tensor<8xf32, #rows>) -> (tensor<8xf32, #rows>) {
      %5 = nn.add "sum"(%h, %0) : (tensor<8xf32, #rows>, tensor<8xf32, #rows>) -> tensor<8xf32, #rows>
      nn.yield %5 : tensor<8xf32, #rows>
    }
    %2 = dist.scatter %a dim 0 over {dp} : tensor<8xf32, #on_0> -> tensor<8xf32, #rows>
    %3 = dist.all_gather %1 dim 0 over {dp} : tensor<8xf32, #rows> -> tensor<8xf32, #all>
    %4 = dist.restrict %3 over {dp} : tensor<8xf32, #all> -> tensor<8xf32, #on_1>
    %5 = dist.scatter %4 dim 0 over {dp} : tensor<8xf32, #on_1> -> tensor<8xf32, #rows>
    dist.yield %2, %5 : tensor<8xf32, #rows>, tensor<8xf32, #rows>
  }
  dist.return %f#0, %f#1 : tensor<8xf32, #rows>, tensor<8xf32, #rows>
}
