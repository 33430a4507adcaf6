// RUN: proteus-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{axis name 'a.b' is not an identifier}}
#m = #dist.mesh<[a.b = 2]>

// -----

// expected-error @+1 {{axis name 'micro' is reserved for the micro-batches}}
#m = #dist.mesh<[micro = 2]>

// -----

// expected-error @+1 {{axis 'a' is declared twice}}
#m = #dist.mesh<[a = 2, a = 2]>

// -----

// expected-error @+1 {{axis 'a' has size 0, expected a positive size}}
#m = #dist.mesh<[a = 0]>

// -----

// expected-error @+1 {{mesh has 0 micro-batches, expected a positive number}}
#m = #dist.mesh<[a = 2], micro = 0>

// -----

// expected-error @+1 {{mesh has 100001 micro-batches, expected at most 100000}}
#m = #dist.mesh<[a = 2], micro = 100001>

// -----

// expected-error @+1 {{mesh has more than 2147483648 devices}}
#m = #dist.mesh<[a = 4294967296, b = 4294967297]>

// -----

// expected-error @+1 {{mesh of 4 positions lists 3 devices}}
#m = #dist.mesh<[a = 4], devices = [0, 1, 2]>

// -----

// expected-error @+1 {{device id -1 is negative}}
#m = #dist.mesh<[a = 2], devices = [0, -1]>

// -----

// expected-error @+1 {{device 3 is listed twice}}
#m = #dist.mesh<[a = 2], devices = [3, 3]>

// -----

// expected-error @+1 {{expected 'micro' or 'devices'}}
#m = #dist.mesh<[a = 2], batches = 3>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{axis 'tp' is used twice}}
#l = #dist.layout<#mesh, [{tp}, {tp}]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{axis 'tp' is used twice}}
#l = #dist.layout<#mesh, [{tp}], partial = [sum {tp}]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{axis 'pp' is used twice}}
#l = #dist.layout<#mesh, [{pp}], at = [pp = 1]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{the time axis 'micro' cannot be fixed at a coordinate}}
#l = #dist.layout<#mesh, [{}], at = [micro = 0]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{coordinate 2 is outside axis 'pp' of size 2}}
#l = #dist.layout<#mesh, [{}], at = [pp = 2]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{unknown axis 'ep' of a mesh with axes {dp, pp, tp}}}
#l = #dist.layout<#mesh, [{ep}]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{expected 'sum' or 'max'}}
#l = #dist.layout<#mesh, [{}], partial = [min {tp}]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{'sum' is listed twice, expected one set of axes per reduction}}
#l = #dist.layout<#mesh, [{}], partial = [sum {tp}, sum {dp}]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{expected at least one axis}}
#l = #dist.layout<#mesh, [{}], partial = [sum {}]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{expected 'flat', 'partial', 'at' or 'memory'}}
#l = #dist.layout<#mesh, [{}], on = [pp = 0]>

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#l = #dist.layout<#mesh, [{tp}]>
// expected-error @+1 {{layout has 1 dimensions, the tensor has 2}}
func.func private @f(tensor<8x8xf32, #l>)

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#l = #dist.layout<#mesh, [{tp}]>
// expected-error @+1 {{dimension 0 is dynamic, a layout needs a static shape}}
func.func private @f(tensor<?xf32, #l>)

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#l = #dist.layout<#mesh, [{}, {dp, tp}]>
// expected-error @+1 {{dimension 1 of size 7 cannot be cut into 8 parts by axes {dp, tp}}}
func.func private @f(tensor<8x7xf32, #l>)

// -----

// expected-error @+1 {{'X3' is not a work item such as F3, B0.1 or U}}
func.func private @f() attributes {a = #dist.order<[X3]>}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
func.func @f(%0: tensor<8xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor with a #dist.layout}}
  %1 = dist.accumulate %0 : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{expected at least one axis}}
  %1 = dist.all_reduce sum %0 over {} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {micro}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{the time axis 'micro' cannot take part in a collective}}
  %1 = dist.all_reduce sum %0 over {micro} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{axis 'tp' is listed twice}}
  %1 = dist.all_reduce sum %0 over {tp, tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{names the axis 'ep', which is not on the mesh}}
  %1 = dist.all_reduce sum %0 over {ep} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp, tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{axes {tp, dp} are not in normal form, expected {dp, tp}}}
  %1 = dist.all_reduce sum %0 over {tp, dp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{changes the tensor from}}
  %1 = dist.all_reduce sum %0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x4xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#other = #dist.mesh<[tp = 4]>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#other, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{goes from the mesh}}
  %1 = dist.all_reduce sum %0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{the operand is not partial (max) over axis 'tp'}}
  %1 = dist.all_reduce max %0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}, max {dp}]>
#b = #dist.layout<#mesh, [{}, {}], partial = [max {dp}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{the pending maximum over {dp} must be reduced before a sum}}
  %1 = dist.all_reduce sum %0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{result has layout #dist.layout<#dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>, [{tp}, {}]>, expected #dist.layout<#dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>, [{}, {}]>}}
  %1 = dist.all_reduce sum %0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{tp}, {}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{dimension 2 is outside a tensor of rank 2}}
  %1 = dist.all_gather %0 dim 2 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp, tp}, {}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{axes {dp} are not the minor axes of dimension 0, which is sharded by {dp, tp}}}
  %1 = dist.all_gather %0 dim 0 over {dp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp, tp}, {}]>
#b = #dist.layout<#mesh, [{dp}, {}]>
func.func @f(%0: tensor<12x8xf32, #a>) {
  // expected-error @+1 {{the 8 uneven parts of dimension 0 of size 12 do not nest in the 2 parts over {dp}}}
  %1 = dist.all_gather %0 dim 0 over {tp} : tensor<12x8xf32, #a> -> tensor<12x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{tp}, {}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{result has layout}}
  %1 = dist.all_gather %0 dim 0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{dimension -1 is outside a tensor of rank 2}}
  %1 = dist.reduce_scatter sum %0 dim -1 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{dimension 0 of size 3 cannot be cut into 4 parts}}
  %1 = dist.reduce_scatter sum %0 dim 0 over {tp} : tensor<3x8xf32, #a> -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {tp}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{result has layout}}
  %1 = dist.reduce_scatter sum %0 dim 0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{tp}, {}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{all_to_all from dimension 0 to itself}}
  %1 = dist.all_to_all %0 from 0 to 0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{tp}, {}]>
#b = #dist.layout<#mesh, [{}, {tp}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{dimension 2 is outside a tensor of rank 2}}
  %1 = dist.all_to_all %0 from 2 to 1 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{tp}, {}]>
#b = #dist.layout<#mesh, [{}, {tp}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{dimension 5 is outside a tensor of rank 2}}
  %1 = dist.all_to_all %0 from 0 to 5 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{tp}, {}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{result has layout}}
  %1 = dist.all_to_all %0 from 0 to 1 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{the operand is not replicated over axis 'tp'}}
  %1 = dist.slice %0 dim 0 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}]>
#b = #dist.layout<#mesh, [{tp}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{dimension 2 is outside a tensor of rank 2}}
  %1 = dist.slice %0 dim 2 over {tp} : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {tp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{operand is not partial (sum) over 'micro'}}
  %1 = dist.accumulate %0 : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {micro, dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{result has layout}}
  %1 = dist.accumulate %0 : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{operand and result fix different axes}}
  %1 = dist.transfer %0 : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], at = [pp = 0]>
#b = #dist.layout<#mesh, [{tp}, {}], at = [pp = 1]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{expected 'at' alone to change}}
  %1 = dist.transfer %0 : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>) {
  // expected-error @+1 {{attribute 'stage' failed to satisfy constraint: non-negative 64-bit integer}}
  dist.send %0 to stage -1 tag 0 : tensor<8x8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}]>
func.func @f() {
  // expected-error @+1 {{attribute 'tag' failed to satisfy constraint: non-negative 64-bit integer}}
  %0 = dist.recv from stage 0 tag -2 : tensor<8x8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{the wire type must be a float type, got 'i32'}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:3]]] as i32 : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{kind is all_gather, expected all_reduce or reduce_scatter}}
  %1 = dist.fused_reduce all_gather sum %0 over {dp} stacked [true] buckets [[0[0:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
func.func @f() {
  // expected-error @+1 {{expected at least one operand}}
  dist.fused_reduce all_reduce sum over {dp} stacked [] buckets [] : () -> ()
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{has 1 operands and 0 results}}
  dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:3]]] : (tensor<3x8xf32, #a>) -> ()
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{has 1 operands and 2 'stacked' flags}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true, false] buckets [[0[0:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{names the axis 'ep', which is not on the mesh}}
  %1 = dist.fused_reduce all_reduce sum %0 over {ep} stacked [true] buckets [[0[0:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#other = #dist.mesh<[dp = 2]>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#c = #dist.layout<#other, [{}, {}], partial = [sum {dp}]>
#d = #dist.layout<#other, [{}, {}]>
func.func @f(%0: tensor<8x8xf32, #a>, %1: tensor<8x8xf32, #c>) {
  // expected-error @+1 {{operand 1 is on the mesh #dist.mesh<[dp = 2]>, operand 0 on #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>}}
  %2:2 = dist.fused_reduce all_reduce sum %0, %1 over {dp} stacked [false, false] buckets [[0[0:1], 1[0:1]]]
      : (tensor<8x8xf32, #a>, tensor<8x8xf32, #c>) -> (tensor<8x8xf32, #b>, tensor<8x8xf32, #d>)
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [], partial = [sum {dp}]>
#b = #dist.layout<#mesh, []>
func.func @f(%0: tensor<f32, #a>) {
  // expected-error @+1 {{stacked operand 0 has no leading dimension}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:1]]] : (tensor<f32, #a>) -> tensor<f32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{dp}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{stacked operand 0 is sharded along its leading dimension}}
  %1 = dist.fused_reduce reduce_scatter sum %0 over {dp} stacked [true] buckets [[0[0:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{result has layout}}
  %1 = dist.fused_reduce reduce_scatter sum %0 over {dp} stacked [true] buckets [[0[0:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [], partial = [sum {dp}]>
#b = #dist.layout<#mesh, []>
func.func @f(%0: tensor<f32, #a>) {
  // expected-error @+1 {{operand 0 has no dimension to scatter}}
  %1 = dist.fused_reduce reduce_scatter sum %0 over {dp} stacked [false] buckets [[0[0:1]]] : (tensor<f32, #a>) -> tensor<f32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{bucket 1 is empty}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:3]], []] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{bucket 0 names operand 1 of 1}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[1[0:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{bucket 0 holds iterations 0:4 of operand 0, which has 3}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:4]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{iteration 1 of operand 0 is in two buckets}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:2]], [0[1:3]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{iteration 2 of operand 0 is in no bucket}}
  %1 = dist.fused_reduce all_reduce sum %0 over {dp} stacked [true] buckets [[0[0:2]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{is at a coordinate of 'ep', which is no device axis of the mesh}}
dist.program @p mesh #mesh at [ep = 0] () { dist.return }

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{is at a coordinate of 'micro', which is no device axis of the mesh}}
dist.program @p mesh #mesh at [micro = 0] () { dist.return }

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{coordinate 2 is outside axis 'pp' of size 2}}
dist.program @p mesh #mesh at [pp = 2] () { dist.return }

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{axis 'pp' is fixed twice}}
dist.program @p mesh #mesh at [pp = 1, pp = 1] () { dist.return }

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
// expected-error @+1 {{coordinate of axis 'pp' is not a 64-bit integer}}
"dist.program"() <{at = {pp = 0 : i32}, function_type = () -> (), mesh = #mesh, sym_name = "p"}> ({
  dist.return
}) : () -> ()

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-note @+1 {{the first one is here}}
  dist.section forward { dist.yield }
  // expected-error @+1 {{is the second 'forward' section of chunk 0}}
  dist.section forward { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section backward { dist.yield }
  // expected-error @+1 {{'forward' comes after 'backward', expected the order forward, gradients, update}}
  dist.section forward { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section backward { dist.yield }
  // expected-error @+1 {{chunk 0 has a 'backward' section and a separate 'weight_gradient' section}}
  dist.section weight_gradient { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-error @+1 {{is outside a section of program @p}}
  %0 = arith.constant 0 : i32
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#other = #dist.mesh<[tp = 4]>
#a = #dist.layout<#other, [{}]>
dist.program @p mesh #mesh at [pp = 0] (
    // expected-error @+1 {{is not on the mesh #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2> of program @p}}
    %x: tensor<8xf32, #a>) {
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}], at = [pp = 1]>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward {
    // expected-error @+1 {{is not at pp = 0, where program @p runs}}
    %0 = dist.recv from stage 1 tag 0 : tensor<8xf32, #a>
    dist.yield
  }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () -> tensor<8xf32> {
  // expected-error @+1 {{returns (), but program @p has results ('tensor<8xf32>')}}
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-error @+1 {{'sideways' is not a section kind}}
  dist.section sideways { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-error @+1 {{'update' runs once per step, expected 'once'}}
  dist.section update { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-error @+1 {{'forward' runs per micro-batch and cannot be 'once'}}
  dist.section forward once { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-error @+1 {{attribute 'chunk' failed to satisfy constraint: non-negative 64-bit integer}}
  dist.section forward chunk -1 { dist.yield }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  // expected-error @+1 {{yields (), but has results ('f32')}}
  %0 = "dist.section"() <{kind = #dist.section_kind<forward>}> ({
    dist.yield
  }) : () -> f32
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{micro}]>
#b = #dist.layout<#mesh, [{micro, tp}]>
dist.program @p mesh #mesh (%x: tensor<8xf32, #a>) {
  dist.section update once {
    // expected-error @+1 {{depends on the micro-batch and cannot be used in a section that runs once; accumulate it first}}
    %0 = dist.slice %x dim 0 over {tp} : tensor<8xf32, #a> -> tensor<8xf32, #b>
    dist.yield
  }
  dist.return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{has 1 programs and 2 orders}}
dist.schedule @s programs [@p] order [[], []]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{lists program @p twice}}
dist.schedule @s programs [@p, @p] order [[], []]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{names @q, which is no dist.program}}
dist.schedule @s programs [@q] order [[F0]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
dist.program @q mesh #dist.mesh<[pp = 2]> () { dist.return }
// expected-error @+1 {{program @q is on the mesh #dist.mesh<[pp = 2]>, @p on}}
dist.schedule @s programs [@p, @q] order [[F0, F1, B0, B1, U], []]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: F0.1 names the 'forward' section of chunk 1, which the program does not have}}
dist.schedule @s programs [@p] order [[F0.1]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: U0 names a micro-batch of a section that runs once}}
dist.schedule @s programs [@p] order [[F0, B0, F1, B1, U0]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: F names no micro-batch}}
dist.schedule @s programs [@p] order [[F]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: F2 is outside the 2 micro-batches of the mesh}}
dist.schedule @s programs [@p] order [[F2]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: F0 is listed twice}}
dist.schedule @s programs [@p] order [[F0, F0]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: B0 comes before F0}}
dist.schedule @s programs [@p] order [[B0, F0, F1, B1, U]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: W0 comes before I0}}
dist.schedule @s programs [@p] order [[F0, W0]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.section update once { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: B1 comes after the update U}}
dist.schedule @s programs [@p] order [[F0, F1, B0, U, B1]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
dist.program @p mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.return
}
// expected-error @+1 {{order of @p: W1 is missing}}
dist.schedule @s programs [@p] order [[F0, F1, I0, W0, I1]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}]>
func.func @f(%0: tensor<8xf32, #a>) {
  // expected-error @+1 {{'min' is not a reduction}}
  %1 = dist.all_reduce min %0 over {tp} : tensor<8xf32, #a> -> tensor<8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{iteration 2 of operand 0 is in no bucket}}
  %1 = dist.fused_gather %0 over {dp} stacked [true] buckets [[0[0:2]]] : (tensor<3x8xf32, #a>) -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{expected at least one operand}}
  dist.fused_gather over {dp} stacked [] buckets [] : () -> ()
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#c = #dist.layout<#mesh, [{}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3xf32, #c>) {
  // expected-error @+1 {{operand 0 has no dimension to gather}}
  %1 = dist.fused_gather %0 over {dp} stacked [true] buckets [[0[0:3]]] : (tensor<3xf32, #c>) -> tensor<3xf32, #c>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error @+1 {{the operand is in device memory already}}
  %1 = dist.fetch %0 : tensor<3x8xf32, #a> -> tensor<3x8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3x8xf32, #host>) {
  // expected-error @+1 {{the operand is in host memory already}}
  %1 = dist.offload %0 : tensor<3x8xf32, #host> -> tensor<3x8xf32, #host>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3x8xf32, #a>) {
  // expected-error-re @+1 {{result has layout {{.*}}, expected {{.*}}memory = host}}
  %1 = dist.offload %0 : tensor<3x8xf32, #a> -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{}, {dp}]>
#b = #dist.layout<#mesh, [{}, {}]>
#host = #dist.layout<#mesh, [{}, {dp}], memory = host>
func.func @f(%0: tensor<3x8xf32, #host>) {
  // expected-error @+1 {{the value is in host memory; fetch it first}}
  %1 = dist.all_gather %0 dim 1 over {dp} : tensor<3x8xf32, #host> -> tensor<3x8xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2]>
#host = #dist.layout<#mesh, [{dp}], memory = host>
#a = #dist.layout<#mesh, [{dp}]>
dist.program @p mesh #mesh (%x: tensor<8xf32, #host>) -> tensor<8xf32, #a> {
  %f = dist.section forward {
    // expected-error @+1 {{'nn.relu' op reads a value of type 'tensor<8xf32, #dist.layout<#dist.mesh<[dp = 2]>, [{dp}], memory = host>>', which is in host memory; fetch it first}}
    %0 = nn.relu "a"(%x) : (tensor<8xf32, #host>) -> tensor<8xf32, #a>
    dist.yield %0 : tensor<8xf32, #a>
  }
  dist.return %f : tensor<8xf32, #a>
}

// -----

// One stage has nothing to add.
#mesh = #dist.mesh<[pp = 2]>
#a = #dist.layout<#mesh, [{}], at = [pp = 0]>
func.func @f(%0: tensor<8xf32, #a>) {
  // expected-error@+1 {{'dist.stage_reduce' op reduces over 1 stages, expected at least two}}
  %1 = dist.stage_reduce %0 over stages [0] tag 0 : tensor<8xf32, #a>
  return
}

// -----

// Stages are in order.
#mesh = #dist.mesh<[pp = 2]>
#a = #dist.layout<#mesh, [{}], at = [pp = 0]>
func.func @f(%0: tensor<8xf32, #a>) {
  // expected-error@+1 {{'dist.stage_reduce' op stage 0 comes after stage 1, expected ascending stages}}
  %1 = dist.stage_reduce %0 over stages [1, 0] tag 0 : tensor<8xf32, #a>
  return
}

// -----

// Stages are not negative.
#mesh = #dist.mesh<[pp = 2]>
#a = #dist.layout<#mesh, [{}], at = [pp = 0]>
func.func @f(%0: tensor<8xf32, #a>) {
  // expected-error@+1 {{'dist.stage_reduce' op stage -1 is negative}}
  %1 = dist.stage_reduce %0 over stages [-1, 0] tag 0 : tensor<8xf32, #a>
  return
}

// -----

// A chunk that reads what another one computes comes after it.
#mesh = #dist.mesh<[pp = 1]>
#a = #dist.layout<#mesh, [{}], at = [pp = 0]>
dist.program @p mesh #mesh at [pp = 0] (%x: tensor<8xf32, #a>) {
  %f = dist.section forward {
    dist.yield %x : tensor<8xf32, #a>
  }
  dist.section forward chunk 1 {
    %0 = dist.stage_reduce %f over stages [0, 1] tag 0 : tensor<8xf32, #a>
    dist.yield
  }
  dist.return
}
// expected-error@+1 {{'dist.schedule' op order of @p: F0.1 uses values of F0 but comes before it}}
dist.schedule @s programs [@p] order [[F0.1, F0]]

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{dimension 0 has 2 parts before and 4 after; a permute keeps the parts}}
  %1 = dist.permute %0 over {dp, tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{tp, dp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{moves blocks along {dp, tp}, not {dp}}}
  %1 = dist.permute %0 over {dp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp}], partial = [sum {pp}]>
#b = #dist.layout<#mesh, [{pp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{axis 'pp' is used twice}}
  %1 = dist.permute %0 over {dp, pp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{tp, dp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{axes {tp, dp} are not in normal form, expected {dp, tp}}}
  %1 = dist.permute %0 over {tp, dp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{dp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{the operand is not fixed at a coordinate of axis 'tp'}}
  %1 = dist.broadcast %0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
#b = #dist.layout<#mesh, [{dp, tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{result has layout}}
  %1 = dist.broadcast %0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{dp, tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{the operand is not fixed at a coordinate of axis 'tp'}}
  %1 = dist.scatter %0 dim 0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#a = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
#b = #dist.layout<#mesh, [{dp, tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{dimension 1 is outside a tensor of rank 1}}
  %1 = dist.scatter %0 dim 1 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[cp = 4]>
// expected-error @+1 {{shift 4 is not within the 4 parts over {cp}}}
#far = #dist.layout<#mesh, [{cp} shift 4]>

// -----

#mesh = #dist.mesh<[cp = 4]>
// expected-error @+1 {{expected at least one axis: a whole dimension has no parts to distribute}}
#none = #dist.layout<#mesh, [zigzag {}]>

// -----

#mesh = #dist.mesh<[cp = 4]>
#zigzag = #dist.layout<#mesh, [zigzag {cp}]>
// expected-error @+1 {{dimension 0 of size 12 cannot be cut into the 8 equal chunks of a zigzag over {cp}}}
func.func private @f(tensor<12xf32, #zigzag>)

// -----

#mesh = #dist.mesh<[cp = 4]>
#own = #dist.layout<#mesh, [{cp}]>
#far = #dist.layout<#mesh, [{cp} shift 2]>
func.func @f(%0: tensor<8xf32, #own>) {
  // expected-error @+1 {{result has layout #dist.layout<#dist.mesh<[cp = 4]>, [{cp} shift 2]>, expected #dist.layout<#dist.mesh<[cp = 4]>, [{cp} shift 1]>}}
  %1 = dist.shift %0 dim 0 over {cp} : (tensor<8xf32, #own>) -> tensor<8xf32, #far>
  return
}

// -----

#mesh = #dist.mesh<[cp = 4, tp = 2]>
#own = #dist.layout<#mesh, [{cp}]>
#next = #dist.layout<#mesh, [{cp} shift 1]>
func.func @f(%0: tensor<8xf32, #own>) {
  // expected-error @+1 {{axes {tp} are not the device axes of dimension 0, which is sharded by {cp}}}
  %1 = dist.shift %0 dim 0 over {tp} : (tensor<8xf32, #own>) -> tensor<8xf32, #next>
  return
}

// -----

#mesh = #dist.mesh<[cp = 4]>
#next = #dist.layout<#mesh, [{cp} shift 1]>
#whole = #dist.layout<#mesh, [{}]>
func.func @f(%0: tensor<8xf32, #next>) {
  // expected-error @+1 {{the parts of dimension 0 have been shifted by 1; shift them back first}}
  %1 = dist.all_gather %0 dim 0 over {cp} : tensor<8xf32, #next> -> tensor<8xf32, #whole>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{dimension 1 is outside a tensor of rank 1}}
  %1 = dist.gather %0 dim 1 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{the result is not fixed at a coordinate of axis 'dp'}}
  %1 = dist.gather %0 dim 0 over {dp, tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{axes {tp} are not the minor axes of dimension 0, which is sharded by {dp}}}
  %1 = dist.gather %0 dim 0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{result has layout #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{}], at = [tp = 1]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{dp}], at = [tp = 1]>}}
  %1 = dist.gather %0 dim 0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{the operand is not replicated over axis 'tp'}}
  %1 = dist.restrict %0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{dp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{the result is not fixed at a coordinate of axis 'tp'}}
  %1 = dist.restrict %0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{result has layout #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{}], at = [tp = 1]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{dp}], at = [tp = 1]>}}
  %1 = dist.restrict %0 over {tp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{}]>
#b = #dist.layout<#mesh, [{}], at = [dp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{axis 'dp' is listed twice}}
  %1 = dist.restrict %0 over {dp, dp} : tensor<16xf32, #a> -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{expected at least one axis}}
  %1 = dist.restrict %0 over {} : tensor<16xf32, #a> -> tensor<16xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{expected at least one axis}}
  %1 = dist.exchange %0 over {} : (tensor<16xf32, #a>) -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{has 1 operands and 2 results, expected at least one and as many of both}}
  %1:2 = dist.exchange %0 over {tp} : (tensor<16xf32, #a>) -> (tensor<16xf32, #b>, tensor<16xf32, #b>)
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp}]>
#b = #dist.layout<#mesh, [{dp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{pair 0 is neither scattered nor gathered: it goes from #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{dp}]> to #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{dp}]>}}
  %1 = dist.exchange %0 over {tp} : (tensor<16xf32, #a>) -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{dp}], at = [tp = 1]>
#other = #dist.mesh<[tp = 4]>
#c = #dist.layout<#other, [{tp}]>
#d = #dist.layout<#other, [{}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>, %1: tensor<16xf32, #c>) {
  // expected-error @+1 {{operand 1 is on the mesh #dist.mesh<[tp = 4]>, operand 0 on #dist.mesh<[dp = 2, tp = 4]>}}
  %2:2 = dist.exchange %0, %1 over {tp} : (tensor<16xf32, #a>, tensor<16xf32, #c>) -> (tensor<16xf32, #b>, tensor<16xf32, #d>)
  return
}

// -----

#mesh = #dist.mesh<[dp = 2, tp = 4]>
#a = #dist.layout<#mesh, [{dp, tp}]>
#b = #dist.layout<#mesh, [{}], at = [tp = 1]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{result has layout #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{}], at = [tp = 1]>, expected #dist.layout<#dist.mesh<[dp = 2, tp = 4]>, [{dp}], at = [tp = 1]>}}
  %1 = dist.exchange %0 over {tp} : (tensor<16xf32, #a>) -> tensor<16xf32, #b>
  return
}

// -----

#mesh = #dist.mesh<[tp = 4]>
#a = #dist.layout<#mesh, [{tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{there is no chunk 2 of 2}}
  %1 = dist.chunk %0 dim 0 index 2 of 2 groups 4 : tensor<16xf32, #a> -> tensor<8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[tp = 4]>
#a = #dist.layout<#mesh, [{tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{3 chunks of 4 groups do not divide a dimension of size 16}}
  %1 = dist.chunk %0 dim 0 index 0 of 3 groups 4 : tensor<16xf32, #a> -> tensor<8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[tp = 4]>
#a = #dist.layout<#mesh, [{tp}]>
func.func @f(%0: tensor<16xf32, #a>) {
  // expected-error @+1 {{4 runs of dimension 0 on devices must have shift 0 and divide the 2 groups}}
  %1 = dist.chunk %0 dim 0 index 0 of 2 groups 2 : tensor<16xf32, #a> -> tensor<8xf32, #a>
  return
}

// -----

#mesh = #dist.mesh<[tp = 4]>
#a = #dist.layout<#mesh, [{tp}]>
func.func @f(%0: tensor<8xf32, #a>) {
  // expected-error @+1 {{a chunk of 'tensor<24xf32, #dist.layout<#dist.mesh<[tp = 4]>, [{tp}]>>' is of the type 'tensor<12xf32, #dist.layout<#dist.mesh<[tp = 4]>, [{tp}]>>', not}}
  %1 = dist.join %0, %0 dim 0 groups 4 : (tensor<8xf32, #a>, tensor<8xf32, #a>) -> tensor<24xf32, #a>
  return
}
