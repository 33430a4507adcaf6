// RUN: proteus-opt %s -split-input-file -verify-diagnostics --chunk-products \
// RUN:   | FileCheck %s --implicit-check-not=dist.chunk --implicit-check-not=dist.join --implicit-check-not=dist.all_ \
// RUN:       --implicit-check-not=dist.reduce_scatter --implicit-check-not="overlap ="

// Every chunk and every collective must be expected below. The setting `overlap` is
// applied, so no program keeps it, unless a case says so.

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 2]>
#rows = #dist.layout<#mesh, [{}, {tp}, {}]>
#whole = #dist.layout<#mesh, [{}, {}, {}]>
#columns = #dist.layout<#mesh, [{}, {}, {tp}]>
#w = #dist.layout<#mesh, [{tp}, {}]>

// Each device cuts its own part of the rows (two parts: two groups), and the chunks
// are gathered one by one: the first product starts after the first gather. All
// chunks of the product are one call of the library.

// CHECK-LABEL: dist.program @gather_before_product
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: {{[^,]*}}, {{.*}}, %[[W:[a-z0-9]+]]:
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[X0:.+]] = dist.chunk %[[X]] dim 1 index 0 of 2 groups 2 : tensor<2x64x8xf32, #[[ROWS:.+]]> -> tensor<2x32x8xf32, #[[ROWS]]>
// CHECK-NEXT:      %[[G0:.+]] = dist.all_gather %[[X0]] dim 1 over {tp} for activation {proteus.exchange = array<i64: 0, 2>}
// CHECK-NEXT:      %[[X1:.+]] = dist.chunk %[[X]] dim 1 index 1 of 2 groups 2 :
// CHECK-NEXT:      %[[G1:.+]] = dist.all_gather %[[X1]] dim 1 over {tp} for activation {proteus.exchange = array<i64: 1, 2>}
// CHECK-NEXT:      %[[Y0:.+]] = nn.linear "fc"(%[[G0]], %[[W]]) {proteus.pieces = 2 : i64} : (tensor<2x32x8xf32,
// CHECK-NEXT:      %[[Y1:.+]] = nn.linear "fc"(%[[G1]], %[[W]]) {proteus.pieces = 2 : i64} : (tensor<2x32x8xf32,
// CHECK-NEXT:      %[[Y:.+]] = dist.join %[[Y0]], %[[Y1]] dim 1 groups 2 : {{.*}} -> tensor<2x64x16xf32,
// CHECK-NEXT:      dist.yield %[[Y]]
dist.program @gather_before_product mesh #mesh (%x: tensor<2x64x8xf32, #rows>, %w: tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #rows> -> tensor<2x64x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    dist.yield %1 : tensor<2x64x16xf32, #columns>
  }
  dist.return %f : tensor<2x64x16xf32, #columns>
}

// A product that reads the gathered operand twice waits for all of it, so it is not
// cut, and neither is the gather.

// CHECK-LABEL: dist.program @gathered_operand_by_itself
// CHECK:           %[[G:.+]] = dist.all_gather
// CHECK-NEXT:      nn.matmul "scores"(%[[G]], %[[G]])
dist.program @gathered_operand_by_itself mesh #mesh (%x: tensor<2x64x8xf32, #rows>) -> tensor<2x64x64xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #rows> -> tensor<2x64x8xf32, #whole>
    %1 = nn.matmul "scores"(%0, %0) {transpose_b} : (tensor<2x64x8xf32, #whole>, tensor<2x64x8xf32, #whole>) -> tensor<2x64x64xf32, #whole>
    dist.yield %1 : tensor<2x64x64xf32, #whole>
  }
  dist.return %f : tensor<2x64x64xf32, #whole>
}

// Several products that read the gathered operand are cut alike. An operation that
// is no product along the rows, such as the gradient of a weight, reads all chunks.

// CHECK-LABEL: dist.program @other_readers
// CHECK:           dist.chunk
// CHECK:           %[[G0:.+]] = dist.all_gather
// CHECK:           dist.chunk
// CHECK:           %[[G1:.+]] = dist.all_gather
// CHECK-NEXT:      %[[G:.+]] = dist.join %[[G0]], %[[G1]] dim 1 groups 2 :
// CHECK-NEXT:      nn.linear "a"(%[[G0]],
// CHECK-NEXT:      nn.linear "a"(%[[G1]],
// CHECK-NEXT:      %[[A:.+]] = dist.join
// CHECK-NEXT:      nn.linear_wgrad "w"(%[[A]], %[[G]])
// CHECK-NEXT:      nn.linear "b"(%[[G0]],
// CHECK-NEXT:      nn.linear "b"(%[[G1]],
// CHECK-NEXT:      dist.join
dist.program @other_readers mesh #mesh (%x: tensor<2x64x8xf32, #rows>, %w: tensor<16x8xf32, #w>) -> (tensor<16x8xf32, #w>, tensor<2x64x16xf32, #columns>)
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f:2 = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #rows> -> tensor<2x64x8xf32, #whole>
    %1 = nn.linear "a"(%0, %w) : (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    %2 = nn.linear_wgrad "w"(%1, %0) : (tensor<2x64x16xf32, #columns>, tensor<2x64x8xf32, #whole>) -> tensor<16x8xf32, #w>
    %3 = nn.linear "b"(%0, %w) : (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    dist.yield %2, %3 : tensor<16x8xf32, #w>, tensor<2x64x16xf32, #columns>
  }
  dist.return %f#0, %f#1 : tensor<16x8xf32, #w>, tensor<2x64x16xf32, #columns>
}

// A gather that no product reads along its rows stays whole.

// CHECK-LABEL: dist.program @no_product
// CHECK:           %[[G:.+]] = dist.all_gather %{{.+}} dim 1 over {tp} for activation :
// CHECK-NEXT:      nn.gelu "act"(%[[G]])
dist.program @no_product mesh #mesh (%x: tensor<2x64x8xf32, #rows>) -> tensor<2x64x8xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #rows> -> tensor<2x64x8xf32, #whole>
    %1 = nn.gelu "act"(%0) : (tensor<2x64x8xf32, #whole>) -> tensor<2x64x8xf32, #whole>
    dist.yield %1 : tensor<2x64x8xf32, #whole>
  }
  dist.return %f : tensor<2x64x8xf32, #whole>
}

// A part of a zigzag is two runs of rows, so two parts are four groups.

// CHECK-LABEL: dist.program @zigzag
// CHECK:           dist.chunk %{{.+}} dim 1 index 0 of 2 groups 4 :
// CHECK:           dist.all_gather
// CHECK:           dist.chunk %{{.+}} dim 1 index 1 of 2 groups 4 :
// CHECK:           dist.all_gather
// CHECK:           dist.join %{{.+}}, %{{.+}} dim 1 groups 4 :
#zigzag = #dist.layout<#mesh, [{}, zigzag {tp}, {}]>
dist.program @zigzag mesh #mesh (%x: tensor<2x64x8xf32, #zigzag>, %w: tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #zigzag> -> tensor<2x64x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    dist.yield %1 : tensor<2x64x16xf32, #columns>
  }
  dist.return %f : tensor<2x64x16xf32, #columns>
}

// -----

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 2]>
#rows = #dist.layout<#mesh, [{}, {tp}, {}]>
#whole = #dist.layout<#mesh, [{}, {}, {}]>
#columns = #dist.layout<#mesh, [{}, {}, {tp}]>
#pending = #dist.layout<#mesh, [{}, {}, {}], partial = [sum {tp}]>
#w = #dist.layout<#mesh, [{}, {tp}]>
#wt = #dist.layout<#mesh, [{tp}, {}]>

// The product before a reduce-scatter: a chunk is scattered while the next one is
// computed. Every device receives chunks of its own part, hence two groups.

// CHECK-LABEL: dist.program @product_before_reduce_scatter
// CHECK-SAME:    (%[[X:[a-z0-9]+]]:
// CHECK:         dist.section forward {
// CHECK-NEXT:      %[[X0:.+]] = dist.chunk %[[X]] dim 1 index 0 of 2 groups 2 :
// CHECK-NEXT:      %[[Y0:.+]] = nn.linear "fc"(%[[X0]], %{{.+}}) {proteus.pieces = 2 : i64}
// CHECK-NEXT:      %[[S0:.+]] = dist.reduce_scatter sum %[[Y0]] dim 1 over {tp} for activation {proteus.exchange = array<i64: 0, 2>}
// CHECK-NEXT:      %[[X1:.+]] = dist.chunk %[[X]] dim 1 index 1 of 2 groups 2 :
// CHECK-NEXT:      %[[Y1:.+]] = nn.linear "fc"(%[[X1]], %{{.+}}) {proteus.pieces = 2 : i64}
// CHECK-NEXT:      %[[S1:.+]] = dist.reduce_scatter sum %[[Y1]] dim 1 over {tp} for activation {proteus.exchange = array<i64: 1, 2>}
// CHECK-NEXT:      %[[S:.+]] = dist.join %[[S0]], %[[S1]] dim 1 groups 2 : {{.*}} -> tensor<2x64x8xf32,
// CHECK-NEXT:      dist.yield %[[S]]
dist.program @product_before_reduce_scatter mesh #mesh (%x: tensor<2x64x16xf32, #columns>, %w: tensor<8x16xf32, #w>) -> tensor<2x64x8xf32, #rows>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f = dist.section forward {
    %0 = nn.linear "fc"(%x, %w) : (tensor<2x64x16xf32, #columns>, tensor<8x16xf32, #w>) -> tensor<2x64x8xf32, #pending>
    %1 = dist.reduce_scatter sum %0 dim 1 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #rows>
    dist.yield %1 : tensor<2x64x8xf32, #rows>
  }
  dist.return %f : tensor<2x64x8xf32, #rows>
}

// The product before an all-reduce: the result is whole, so its longest dimension
// but the last one is cut, in one group. The library runs it, without user buffers.

// CHECK-LABEL: dist.program @product_before_all_reduce
// CHECK:         dist.section forward {
// CHECK-NEXT:      dist.chunk %{{.+}} dim 1 index 0 of 2 groups 1 :
// CHECK-NEXT:      nn.linear "fc"
// CHECK-NEXT:      dist.all_reduce sum %{{.+}} over {tp} for activation : tensor<2x32x8xf32,
// CHECK-NEXT:      dist.chunk %{{.+}} dim 1 index 1 of 2 groups 1 :
// CHECK-NEXT:      nn.linear "fc"
// CHECK-NEXT:      dist.all_reduce sum %{{.+}} over {tp} for activation : tensor<2x32x8xf32,
// CHECK-NEXT:      dist.join %{{.+}}, %{{.+}} dim 1 groups 1 :
dist.program @product_before_all_reduce mesh #mesh (%x: tensor<2x64x16xf32, #columns>, %w: tensor<8x16xf32, #w>) -> tensor<2x64x8xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f = dist.section forward {
    %0 = nn.linear "fc"(%x, %w) : (tensor<2x64x16xf32, #columns>, tensor<8x16xf32, #w>) -> tensor<2x64x8xf32, #pending>
    %1 = dist.all_reduce sum %0 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    dist.yield %1 : tensor<2x64x8xf32, #whole>
  }
  dist.return %f : tensor<2x64x8xf32, #whole>
}

// The gradient of an input is not cut if the gradient of the weight can be computed
// during its sum: both read %g.

// CHECK-LABEL: dist.program @gradient_of_a_weight_during_the_sum
// CHECK:         dist.section backward {
// CHECK-NEXT:      %[[DX:.+]] = nn.linear_dgrad "fc"(%{{.+}}, %{{.+}}) :
// CHECK-NEXT:      dist.all_reduce sum %[[DX]] over {tp} for activation : tensor<2x64x8xf32,
// CHECK-NEXT:      nn.linear_wgrad "fc"
dist.program @gradient_of_a_weight_during_the_sum mesh #mesh (%g: tensor<2x64x16xf32, #columns>, %w: tensor<16x8xf32, #wt>, %x: tensor<2x64x8xf32, #whole>)
    -> (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #wt>) attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %b:2 = dist.section backward {
    %0 = nn.linear_dgrad "fc"(%g, %w) : (tensor<2x64x16xf32, #columns>, tensor<16x8xf32, #wt>) -> tensor<2x64x8xf32, #pending>
    %1 = dist.all_reduce sum %0 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    %2 = nn.linear_wgrad "fc"(%g, %x) : (tensor<2x64x16xf32, #columns>, tensor<2x64x8xf32, #whole>) -> tensor<16x8xf32, #wt>
    dist.yield %1, %2 : tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #wt>
  }
  dist.return %b#0, %b#1 : tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #wt>
}

// Without that product the gradient of the input is cut.

// CHECK-LABEL: dist.program @gradient_of_an_input_alone
// CHECK:           dist.chunk
// CHECK-NEXT:      nn.linear_dgrad "fc"
// CHECK-NEXT:      dist.all_reduce
// CHECK-NEXT:      dist.chunk
// CHECK-NEXT:      nn.linear_dgrad "fc"
// CHECK-NEXT:      dist.all_reduce
// CHECK-NEXT:      dist.join
dist.program @gradient_of_an_input_alone mesh #mesh (%g: tensor<2x64x16xf32, #columns>, %w: tensor<16x8xf32, #wt>) -> tensor<2x64x8xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %b = dist.section backward {
    %0 = nn.linear_dgrad "fc"(%g, %w) : (tensor<2x64x16xf32, #columns>, tensor<16x8xf32, #wt>) -> tensor<2x64x8xf32, #pending>
    %1 = dist.all_reduce sum %0 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    dist.yield %1 : tensor<2x64x8xf32, #whole>
  }
  dist.return %b : tensor<2x64x8xf32, #whole>
}

// A product with another reader than the sum stays whole, as does a sum of
// something else than a product.

// CHECK-LABEL: dist.program @sums_that_stay_whole
// CHECK:           %[[Y:.+]] = nn.linear "fc"
// CHECK-NEXT:      dist.all_reduce sum %[[Y]] over {tp} for activation : tensor<2x64x8xf32,
// CHECK-NEXT:      %[[S:.+]] = nn.add "sum"(%[[Y]], %[[Y]])
// CHECK-NEXT:      dist.all_reduce sum %[[S]] over {tp} for activation : tensor<2x64x8xf32,
dist.program @sums_that_stay_whole mesh #mesh (%x: tensor<2x64x16xf32, #columns>, %w: tensor<8x16xf32, #w>) -> (tensor<2x64x8xf32, #whole>, tensor<2x64x8xf32, #whole>)
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2>>} {
  %f:2 = dist.section forward {
    %0 = nn.linear "fc"(%x, %w) : (tensor<2x64x16xf32, #columns>, tensor<8x16xf32, #w>) -> tensor<2x64x8xf32, #pending>
    %1 = dist.all_reduce sum %0 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    %2 = nn.add "sum"(%0, %0) : (tensor<2x64x8xf32, #pending>, tensor<2x64x8xf32, #pending>) -> tensor<2x64x8xf32, #pending>
    %3 = dist.all_reduce sum %2 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    dist.yield %1, %3 : tensor<2x64x8xf32, #whole>, tensor<2x64x8xf32, #whole>
  }
  dist.return %f#0, %f#1 : tensor<2x64x8xf32, #whole>, tensor<2x64x8xf32, #whole>
}

// -----

//===----------------------------------------------------------------------===//
// Number of chunks
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 2]>
#rows = #dist.layout<#mesh, [{}, {tp}, {}]>
#whole = #dist.layout<#mesh, [{}, {}, {}]>
#columns = #dist.layout<#mesh, [{}, {}, {tp}]>
#pending = #dist.layout<#mesh, [{}, {}, {}], partial = [sum {tp}]>
#w = #dist.layout<#mesh, [{tp}, {}]>
#v = #dist.layout<#mesh, [{}, {tp}]>

// Without a number there is one chunk per device that gathers, and four of an
// all-reduce.

// CHECK-LABEL: dist.program @default_numbers
// CHECK:           dist.chunk %{{.+}} dim 1 index 0 of 2 groups 2 :
// CHECK:           dist.all_gather
// CHECK:           dist.chunk %{{.+}} dim 1 index 1 of 2 groups 2 :
// CHECK:           dist.all_gather
// CHECK:           dist.join
// CHECK:           dist.chunk %{{.+}} dim 1 index 0 of 4 groups 1 :
// CHECK:           dist.all_reduce
// CHECK:           dist.chunk %{{.+}} dim 1 index 1 of 4 groups 1 :
// CHECK:           dist.all_reduce
// CHECK:           dist.chunk %{{.+}} dim 1 index 2 of 4 groups 1 :
// CHECK:           dist.all_reduce
// CHECK:           dist.chunk %{{.+}} dim 1 index 3 of 4 groups 1 :
// CHECK:           dist.all_reduce
// CHECK:           dist.join %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} dim 1 groups 1 :
dist.program @default_numbers mesh #mesh (%x: tensor<2x64x8xf32, #rows>, %w: tensor<16x8xf32, #w>, %v: tensor<8x16xf32, #v>) -> tensor<2x64x8xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = chunked>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #rows> -> tensor<2x64x8xf32, #whole>
    %1 = nn.linear "fc1"(%0, %w) : (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    %2 = nn.gelu "act"(%1) : (tensor<2x64x16xf32, #columns>) -> tensor<2x64x16xf32, #columns>
    %3 = nn.linear "fc2"(%2, %v) : (tensor<2x64x16xf32, #columns>, tensor<8x16xf32, #v>) -> tensor<2x64x8xf32, #pending>
    %4 = dist.all_reduce sum %3 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    dist.yield %4 : tensor<2x64x8xf32, #whole>
  }
  dist.return %f : tensor<2x64x8xf32, #whole>
}

// Rows that chunks do not divide are left alone, and a remark gives their number:
// 2 x 3 chunks do not divide 64 rows, 3 do not divide the rows of the sum.

// CHECK-LABEL: dist.program @rows_that_chunks_do_not_divide
// CHECK:           %[[G:.+]] = dist.all_gather %{{.+}} dim 1 over {tp} for activation {proteus.exchange = array<i64: 0, 1>}
// CHECK-NEXT:      %[[A:.+]] = nn.linear "fc1"(%[[G]], %{{.+}}) :
// CHECK-NEXT:      %[[B:.+]] = nn.linear "fc2"(%[[A]], %{{.+}}) :
// CHECK-NEXT:      dist.all_reduce sum %[[B]] over {tp} for activation :
// expected-remark@+1 {{2 of its collectives run in one piece: chunks do not divide their rows on a device; choose another number of chunks}}
dist.program @rows_that_chunks_do_not_divide mesh #mesh (%x: tensor<2x64x8xf32, #rows>, %w: tensor<16x8xf32, #w>, %v: tensor<8x16xf32, #v>) -> tensor<2x64x8xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 3>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 1 over {tp} for activation : tensor<2x64x8xf32, #rows> -> tensor<2x64x8xf32, #whole>
    %1 = nn.linear "fc1"(%0, %w) : (tensor<2x64x8xf32, #whole>, tensor<16x8xf32, #w>) -> tensor<2x64x16xf32, #columns>
    %2 = nn.linear "fc2"(%1, %v) : (tensor<2x64x16xf32, #columns>, tensor<8x16xf32, #v>) -> tensor<2x64x8xf32, #pending>
    %3 = dist.all_reduce sum %2 over {tp} for activation : tensor<2x64x8xf32, #pending> -> tensor<2x64x8xf32, #whole>
    dist.yield %3 : tensor<2x64x8xf32, #whole>
  }
  dist.return %f : tensor<2x64x8xf32, #whole>
}

// -----

//===----------------------------------------------------------------------===//
// Programs and collectives that stay as they are
//===----------------------------------------------------------------------===//

#mesh = #dist.mesh<[tp = 2]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
#whole = #dist.layout<#mesh, [{}, {}]>

// Nothing is requested: the gather stays whole and has no user buffers. A setting
// for other communication is kept.

// CHECK-LABEL: dist.program @nothing_requested
// CHECK:           dist.all_gather %{{.+}} dim 0 over {tp} for activation :
// CHECK-NEXT:      nn.linear "fc"
dist.program @nothing_requested mesh #mesh (%x: tensor<64x8xf32, #rows>, %w: tensor<16x8xf32, #whole>) -> tensor<64x16xf32, #whole> {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 0 over {tp} for activation : tensor<64x8xf32, #rows> -> tensor<64x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<64x8xf32, #whole>, tensor<16x8xf32, #whole>) -> tensor<64x16xf32, #whole>
    dist.yield %1 : tensor<64x16xf32, #whole>
  }
  dist.return %f : tensor<64x16xf32, #whole>
}
// CHECK-LABEL: dist.program @other_requests
// CHECK-SAME:    step = #dist.step<overlap = <tensor = none, messages = false>>
// CHECK:           dist.all_gather %{{.+}} dim 0 over {tp} for activation :
// CHECK-NEXT:      nn.linear "fc"
dist.program @other_requests mesh #mesh (%x: tensor<64x8xf32, #rows>, %w: tensor<16x8xf32, #whole>) -> tensor<64x16xf32, #whole>
    attributes {step = #dist.step<overlap = <tensor = none, messages = false>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 0 over {tp} for activation : tensor<64x8xf32, #rows> -> tensor<64x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<64x8xf32, #whole>, tensor<16x8xf32, #whole>) -> tensor<64x16xf32, #whole>
    dist.yield %1 : tensor<64x16xf32, #whole>
  }
  dist.return %f : tensor<64x16xf32, #whole>
}

// Parameters are gathered whole, and the update has no kernels to overlap with. Of
// the setting the part for messages is kept.

// CHECK-LABEL: dist.program @parameters_and_updates
// CHECK-SAME:    step = #dist.step<overlap = <messages = false>>
// CHECK:         dist.section forward {
// CHECK-NEXT:      dist.all_gather %{{.+}} dim 0 over {tp} for parameter :
// CHECK-NEXT:      nn.linear "fc"
// CHECK:         dist.section update once {
// CHECK-NEXT:      dist.all_gather %{{.+}} dim 0 over {tp} :
// CHECK-NEXT:      nn.linear "fc"
dist.program @parameters_and_updates mesh #mesh (%x: tensor<64x8xf32, #rows>, %w: tensor<16x8xf32, #whole>) -> (tensor<64x16xf32, #whole>, tensor<64x16xf32, #whole>)
    attributes {step = #dist.step<overlap = <tensor = chunked, chunks = 2, messages = false>>} {
  %f = dist.section forward {
    %0 = dist.all_gather %x dim 0 over {tp} for parameter : tensor<64x8xf32, #rows> -> tensor<64x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<64x8xf32, #whole>, tensor<16x8xf32, #whole>) -> tensor<64x16xf32, #whole>
    dist.yield %1 : tensor<64x16xf32, #whole>
  }
  %u = dist.section update once {
    %0 = dist.all_gather %x dim 0 over {tp} : tensor<64x8xf32, #rows> -> tensor<64x8xf32, #whole>
    %1 = nn.linear "fc"(%0, %w) : (tensor<64x8xf32, #whole>, tensor<16x8xf32, #whole>) -> tensor<64x16xf32, #whole>
    dist.yield %1 : tensor<64x16xf32, #whole>
  }
  dist.return %f, %u : tensor<64x16xf32, #whole>, tensor<64x16xf32, #whole>
}
