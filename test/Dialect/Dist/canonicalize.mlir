// RUN: proteus-opt %s --canonicalize --cse | FileCheck %s

#mesh = #dist.mesh<[dp = 2, tp = 4], micro = 2>
#whole = #dist.layout<#mesh, [{}, {}]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
#columns = #dist.layout<#mesh, [{}, {tp}]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>

// CHECK-LABEL: func.func @a_slice_of_a_gather_is_nothing
// CHECK-SAME: (%[[ROWS:.*]]: tensor
func.func @a_slice_of_a_gather_is_nothing(%rows: tensor<8x8xf32, #rows>)
    -> tensor<8x8xf32, #rows> {
  %0 = dist.all_gather %rows dim 0 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  %1 = dist.slice %0 dim 0 over {tp}
      : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #rows>
  // CHECK-NEXT: return %[[ROWS]]
  return %1 : tensor<8x8xf32, #rows>
}

// CHECK-LABEL: func.func @a_gather_of_a_slice_is_nothing
// CHECK-SAME: (%[[WHOLE:.*]]: tensor
func.func @a_gather_of_a_slice_is_nothing(%whole: tensor<8x8xf32, #whole>)
    -> tensor<8x8xf32, #whole> {
  %0 = dist.slice %whole dim 1 over {tp}
      : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #columns>
  %1 = dist.all_gather %0 dim 1 over {tp}
      : tensor<8x8xf32, #columns> -> tensor<8x8xf32, #whole>
  // CHECK-NEXT: return %[[WHOLE]]
  return %1 : tensor<8x8xf32, #whole>
}

// CHECK-LABEL: func.func @two_all_to_alls_cancel
// CHECK-SAME: (%[[ROWS:.*]]: tensor
func.func @two_all_to_alls_cancel(%rows: tensor<8x8xf32, #rows>)
    -> tensor<8x8xf32, #rows> {
  %0 = dist.all_to_all %rows from 0 to 1 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #columns>
  %1 = dist.all_to_all %0 from 1 to 0 over {tp}
      : tensor<8x8xf32, #columns> -> tensor<8x8xf32, #rows>
  // CHECK-NEXT: return %[[ROWS]]
  return %1 : tensor<8x8xf32, #rows>
}

// CHECK-LABEL: func.func @a_gather_then_another_slice_stays
func.func @a_gather_then_another_slice_stays(%rows: tensor<8x8xf32, #rows>)
    -> tensor<8x8xf32, #columns> {
  // CHECK: dist.all_gather
  %0 = dist.all_gather %rows dim 0 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  // CHECK: dist.slice
  %1 = dist.slice %0 dim 1 over {tp}
      : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #columns>
  return %1 : tensor<8x8xf32, #columns>
}

// CHECK-LABEL: func.func @a_reduction_is_no_round_trip
func.func @a_reduction_is_no_round_trip(%partial: tensor<8x8xf32, #partial>)
    -> tensor<8x8xf32, #whole> {
  // CHECK: dist.reduce_scatter
  %0 = dist.reduce_scatter sum %partial dim 0 over {tp}
      : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #rows>
  // CHECK: dist.all_gather
  %1 = dist.all_gather %0 dim 0 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  return %1 : tensor<8x8xf32, #whole>
}

// CHECK-LABEL: func.func @a_transfer_to_the_same_place_is_nothing
// CHECK-SAME: (%[[WHOLE:.*]]: tensor
func.func @a_transfer_to_the_same_place_is_nothing(
    %whole: tensor<8x8xf32, #whole>) -> tensor<8x8xf32, #whole> {
  %0 = dist.transfer %whole
      : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #whole>
  // CHECK-NEXT: return %[[WHOLE]]
  return %0 : tensor<8x8xf32, #whole>
}

// CHECK-LABEL: func.func @equal_collectives_are_one
func.func @equal_collectives_are_one(%rows: tensor<8x8xf32, #rows>)
    -> (tensor<8x8xf32, #whole>, tensor<8x8xf32, #whole>) {
  // CHECK: %[[GATHER:.*]] = dist.all_gather
  // CHECK-NOT: dist.all_gather
  %0 = dist.all_gather %rows dim 0 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  %1 = dist.all_gather %rows dim 0 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  // CHECK: return %[[GATHER]], %[[GATHER]]
  return %0, %1 : tensor<8x8xf32, #whole>, tensor<8x8xf32, #whole>
}

// Messages are neither merged nor dropped, though nobody reads them here.
// CHECK-LABEL: func.func @messages_stay
func.func @messages_stay(%rows: tensor<8x8xf32, #rows>) {
  // CHECK-COUNT-2: dist.send
  dist.send %rows to stage 1 tag 0 : tensor<8x8xf32, #rows>
  dist.send %rows to stage 1 tag 0 : tensor<8x8xf32, #rows>
  // CHECK-COUNT-2: dist.recv
  %0 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #rows>
  %1 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #rows>
  return
}

// Sections stay where a schedule names them, and constants stay in sections.
// CHECK-LABEL: dist.program @constants_stay_in_sections
dist.program @constants_stay_in_sections mesh #mesh () -> i32 {
  // CHECK-NEXT: dist.section forward
  dist.section forward { dist.yield }
  // CHECK: dist.section update once {
  // CHECK-NEXT: arith.constant 3
  %u = dist.section update once {
    %0 = arith.constant 1 : i32
    %1 = arith.constant 2 : i32
    %2 = arith.addi %0, %1 : i32
    dist.yield %2 : i32
  }
  dist.return %u : i32
}

#two = #dist.mesh<[a = 2, b = 2]>
#ab = #dist.layout<#two, [{a, b}]>
#ba = #dist.layout<#two, [{b, a}]>

// CHECK-LABEL: func.func @a_permute_and_its_inverse_are_nothing
// CHECK-SAME: (%[[X:.*]]: tensor
func.func @a_permute_and_its_inverse_are_nothing(%x: tensor<8xf32, #ab>)
    -> tensor<8xf32, #ab> {
  %0 = dist.permute %x over {a, b} : tensor<8xf32, #ab> -> tensor<8xf32, #ba>
  %1 = dist.permute %0 over {a, b} : tensor<8xf32, #ba> -> tensor<8xf32, #ab>
  // CHECK-NEXT: return %[[X]]
  return %1 : tensor<8xf32, #ab>
}
