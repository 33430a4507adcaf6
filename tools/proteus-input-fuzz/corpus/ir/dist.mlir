
#mesh = #dist.mesh<[dp = 2, pp = 2, tp = 4], micro = 2>
#pair = #dist.mesh<[tp = 2], micro = 1, devices = [0, 4]>
#iota = #dist.mesh<[tp = 2], devices = [0, 1]>

#host = #dist.layout<#mesh, [{dp}], memory = host>
#whole = #dist.layout<#mesh, [{}, {}]>
#rows = #dist.layout<#mesh, [{tp}, {}]>
#columns = #dist.layout<#mesh, [{}, {tp}]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {tp, dp}]>
#both = #dist.layout<#mesh, [{tp, dp}, {}]>
#max = #dist.layout<#mesh, [{dp}, {}], partial = [max {tp}]>
#dp = #dist.layout<#mesh, [{dp}, {}]>
#each = #dist.layout<#mesh, [{}, {tp}], partial = [max {pp}, sum {dp, micro}]>
#all = #dist.layout<#mesh, [{}, {tp}], partial = [sum {dp}, max {pp}]>
#first = #dist.layout<#mesh, [{micro, dp}, {tp}], at = [pp = 0]>
#second = #dist.layout<#mesh, [{micro, dp}, {tp}], at = [pp = 1]>

func.func @meshes_drop_what_says_nothing() attributes {
    a = #iota, b = #pair} {
  return
}

func.func @collectives(%partial: tensor<8x8xf32, #partial>,
                       %rows: tensor<8x8xf32, #rows>,
                       %max: tensor<8x8xf32, #max>) {
  %0 = dist.all_reduce sum %partial over {dp, tp} for activation
      : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #whole>
  %1 = dist.all_reduce max %max over {tp}
      : tensor<8x8xf32, #max> -> tensor<8x8xf32, #dp>
  %2 = dist.all_gather %rows dim 0 over {tp} for parameter
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #whole>
  %3 = dist.reduce_scatter sum %partial dim 0 over {dp, tp} for gradient
      : tensor<8x8xf32, #partial> -> tensor<8x8xf32, #both>
  %4 = dist.all_to_all %rows from 0 to 1 over {tp}
      : tensor<8x8xf32, #rows> -> tensor<8x8xf32, #columns>
  %5 = dist.slice %0 dim 1 over {tp} {note = "attributes stay"}
      : tensor<8x8xf32, #whole> -> tensor<8x8xf32, #columns>
  return
}

func.func @time_and_stages(%each: tensor<8x8xf32, #each>,
                           %first: tensor<8x8xf32, #first>) {
  %0 = dist.accumulate %each
      : tensor<8x8xf32, #each> -> tensor<8x8xf32, #all>
  %1 = dist.transfer %first
      : tensor<8x8xf32, #first> -> tensor<8x8xf32, #second>
  %tied = dist.stage_reduce %first over stages [0, 1] tag 3 for gradient : tensor<8x8xf32, #first>
  dist.send %first to stage 1 tag 7 for activation : tensor<8x8xf32, #first>
  %2 = dist.recv from stage 0 tag 7 : tensor<8x8xf32, #second>
  return
}

#pw = #dist.layout<#mesh, [{}, {}, {tp}], partial = [sum {dp}]>
#w = #dist.layout<#mesh, [{}, {}, {tp}]>
#ws = #dist.layout<#mesh, [{}, {dp}, {tp}]>
#pb = #dist.layout<#mesh, [{}], partial = [sum {dp}]>
#b = #dist.layout<#mesh, [{}]>
#bs = #dist.layout<#mesh, [{dp}]>

func.func @buckets(%w: tensor<12x8x8xf32, #pw>, %b: tensor<8xf32, #pb>) {
  %0:2 = dist.fused_reduce all_reduce sum %w, %b over {dp}
      stacked [true, false] buckets [[0[6:12], 1[0:1]], [0[0:6]]] for gradient
      : (tensor<12x8x8xf32, #pw>, tensor<8xf32, #pb>)
      -> (tensor<12x8x8xf32, #w>, tensor<8xf32, #b>)
  %1:2 = dist.fused_reduce reduce_scatter sum %w, %b over {dp}
      stacked [true, false] buckets [[0[0:12], 1[0:1]]]
      : (tensor<12x8x8xf32, #pw>, tensor<8xf32, #pb>)
      -> (tensor<12x8x8xf32, #ws>, tensor<8xf32, #bs>)
  return
}

func.func @gathered_buckets(%w: tensor<12x8x8xf32, #ws>, %b: tensor<8xf32, #bs>) {
  %0:2 = dist.fused_gather %w, %b over {dp}
      stacked [true, false] buckets [[0[0:6]], [0[6:12], 1[0:1]]] for parameter
      : (tensor<12x8x8xf32, #ws>, tensor<8xf32, #bs>)
      -> (tensor<12x8x8xf32, #w>, tensor<8xf32, #b>)
  return
}

func.func @to_the_host_and_back(%b: tensor<8xf32, #bs>) {
  %0 = dist.offload %b for activation : tensor<8xf32, #bs> -> tensor<8xf32, #host>
  %1 = dist.fetch %0 : tensor<8xf32, #host> -> tensor<8xf32, #bs>
  return
}

#x0 = #dist.layout<#mesh, [{micro, dp}, {}], at = [pp = 0]>
#w0 = #dist.layout<#mesh, [{}, {tp}], at = [pp = 0]>
#g0 = #dist.layout<#mesh, [{}, {tp}], partial = [sum {micro, dp}], at = [pp = 0]>
#s0 = #dist.layout<#mesh, [{}, {tp}], partial = [sum {dp}], at = [pp = 0]>

dist.program @first mesh #mesh at [pp = 0]
    (%x: tensor<8x8xf32, #x0> {test.role = "input"}, %w: tensor<8x8xf32, #w0>)
    -> (tensor<8x8xf32, #w0> {test.role = "parameter"})
    attributes {note = "kept"} {
  %f = dist.section forward {
    dist.send %x to stage 1 tag 0 : tensor<8x8xf32, #x0>
    dist.yield %x : tensor<8x8xf32, #x0>
  }
  %g = dist.section backward attributes {hint = 1 : i64} {
    dist.send %f to stage 1 tag 2 : tensor<8x8xf32, #x0>
    %1 = dist.recv from stage 1 tag 1 : tensor<8x8xf32, #g0>
    %2 = dist.accumulate %1 : tensor<8x8xf32, #g0> -> tensor<8x8xf32, #s0>
    dist.yield %2 : tensor<8x8xf32, #s0>
  }
  %u = dist.section update once {
    %0 = dist.all_reduce sum %g over {dp} for gradient
        : tensor<8x8xf32, #s0> -> tensor<8x8xf32, #w0>
    dist.yield %0 : tensor<8x8xf32, #w0>
  }
  dist.return %u : tensor<8x8xf32, #w0>
}

dist.program @second mesh #mesh at [pp = 1] () {
  dist.section forward chunk 0 { dist.yield }
  dist.section forward chunk 1 { dist.yield }
  dist.section input_gradient chunk 1 { dist.yield }
  dist.section weight_gradient chunk 1 { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

dist.program @everywhere mesh #mesh () {
  dist.return
}

dist.schedule @s programs [@first, @second] order [
  [F0, B0, F1, B1, U],
  [F0, F0.1, I0.1, F1.1, W0.1, I1.1, W1.1, F1, B0, B1]
] {note = 1 : i64}

func.func private @data() attributes {
  a = #dist.order<[F0, B0.1, U]>, b = #dist.buckets<[[0[0:1]], []]>
}

func.func @blocks_change_ranks(
    %dp_major: tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>,
    %on_one: tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>>) {
  %0 = dist.permute %dp_major over {dp, tp} for parameter
      : tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>> -> tensor<16xf32, #dist.layout<#mesh, [{tp, dp}]>>
  %1 = dist.broadcast %on_one over {tp}
      : tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp}]>>
  %2 = dist.scatter %on_one dim 0 over {tp} for activation
      : tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>
  return
}

func.func @chunks(%rows: tensor<32x4xf32, #dist.layout<#mesh, [{tp}, {}]>>) {
  %0 = dist.chunk %rows dim 0 index 1 of 2 groups 8
      : tensor<32x4xf32, #dist.layout<#mesh, [{tp}, {}]>> -> tensor<16x4xf32, #dist.layout<#mesh, [{tp}, {}]>>
  %1 = dist.join %0, %0 dim 0 groups 8
      : (tensor<16x4xf32, #dist.layout<#mesh, [{tp}, {}]>>, tensor<16x4xf32, #dist.layout<#mesh, [{tp}, {}]>>)
      -> tensor<32x4xf32, #dist.layout<#mesh, [{tp}, {}]>>
  return
}

func.func @places(
    %rows: tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>,
    %whole: tensor<16xf32, #dist.layout<#mesh, [{dp}]>>,
    %on_one: tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>>) {
  %0 = dist.gather %rows dim 0 over {tp} for activation
      : tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 1]>>
  %1 = dist.restrict %whole over {tp}
      : tensor<16xf32, #dist.layout<#mesh, [{dp}]>> -> tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 3]>>
  %2:2 = dist.exchange %on_one, %rows over {tp} for activation
      : (tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 2]>>, tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>)
      -> (tensor<16xf32, #dist.layout<#mesh, [{dp, tp}]>>, tensor<16xf32, #dist.layout<#mesh, [{dp}], at = [tp = 0]>>)
  return
}
