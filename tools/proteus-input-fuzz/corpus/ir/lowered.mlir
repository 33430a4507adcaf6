#mesh = #dist.mesh<[dp = 4, tp = 2], micro = 2>
#layout = #dist.layout<#mesh, [{micro, dp}, {}]>
#layout1 = #dist.layout<#mesh, [{micro, dp}, {tp}]>
#layout2 = #dist.layout<#mesh, [{}, {tp}, {}]>
#layout3 = #dist.layout<#mesh, [], partial = [sum {dp, tp}]>
#layout4 = #dist.layout<#mesh, [{tp}, {}]>
#layout5 = #dist.layout<#mesh, [{}, {micro, dp}, {}]>
#layout6 = #dist.layout<#mesh, [{}, {micro, dp}, {tp}]>
#layout7 = #dist.layout<#mesh, [], partial = [sum {micro, dp, tp}]>
#layout8 = #dist.layout<#mesh, []>
#layout9 = #dist.layout<#mesh, [{}, {tp}, {}], partial = [sum {micro, dp}]>
#layout10 = #dist.layout<#mesh, [{micro, dp}, {}], partial = [sum {tp}]>
#layout11 = #dist.layout<#mesh, [{tp}, {}], partial = [sum {micro, dp}]>
#layout12 = #dist.layout<#mesh, [{}, {tp}, {}], partial = [sum {dp}]>
module attributes {proteus.cluster = "dgx-a100", proteus.stack = "generic"} {
  dist.program @mlp mesh #mesh (%arg0: tensor<8x16xf32, #layout> {nn.path = "x", nn.role = "input"}, %arg1: tensor<8x16xf32, #layout1> {nn.path = "y", nn.role = "input"}, %arg2: tensor<1x16x16xf32, #layout2> {nn.path = "layers[0:1].fc.weight", nn.role = "parameter"}, %arg3: tensor<1x16x16xf32, #layout2> {nn.path = "layers[1:2].fc.weight", nn.role = "parameter"}, %arg4: tensor<1x16x16xf32, #layout2> {nn.path = "layers[0:1].fc.weight.first_moment", nn.role = "state"}, %arg5: tensor<1x16x16xf32, #layout2> {nn.path = "layers[0:1].fc.weight.second_moment", nn.role = "state"}, %arg6: tensor<1x16x16xf32, #layout2> {nn.path = "layers[1:2].fc.weight.first_moment", nn.role = "state"}, %arg7: tensor<1x16x16xf32, #layout2> {nn.path = "layers[1:2].fc.weight.second_moment", nn.role = "state"}) -> (tensor<f32, #layout3>, tensor<1x16x16xf32, #layout2> {nn.updates = 2 : i64}, tensor<1x16x16xf32, #layout2> {nn.updates = 4 : i64}, tensor<1x16x16xf32, #layout2> {nn.updates = 5 : i64}, tensor<1x16x16xf32, #layout2> {nn.updates = 3 : i64}, tensor<1x16x16xf32, #layout2> {nn.updates = 6 : i64}, tensor<1x16x16xf32, #layout2> {nn.updates = 7 : i64}) attributes {nn.training = #nn.training<optimizer = adam>} {
    %0:4 = dist.section forward {
      %3:2 = nn.repeat "layers" count 1 carry(%arg8 = %arg0 : tensor<8x16xf32, #layout>) slice(%arg9 = %arg2 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>) -> (tensor<8x16xf32, #layout1>, tensor<1x8x16xf32, #layout5>) {
        %6 = nn.linear "fc"(%arg8, %arg9) : (tensor<8x16xf32, #layout>, tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout1>
        %7 = nn.relu "act"(%6) : (tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
        nn.yield %7, %arg8 : tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout>
      }
      %4:2 = nn.repeat "layers" first 1 count 1 carry(%arg8 = %3#0 : tensor<8x16xf32, #layout1>) slice(%arg9 = %arg3 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>) -> (tensor<8x16xf32, #layout1>, tensor<1x8x16xf32, #layout6>) {
        %6 = dist.all_gather %arg8 dim 1 over {tp} for activation {proteus.path = "fc"} : tensor<8x16xf32, #layout1> -> tensor<8x16xf32, #layout>
        %7 = nn.linear "fc"(%6, %arg9) : (tensor<8x16xf32, #layout>, tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout1>
        %8 = nn.relu "act"(%7) : (tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
        nn.yield %8, %arg8 : tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout1>
      }
      %5 = nn.mse_loss "loss"(%4#0, %arg1) : (tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout1>) -> tensor<f32, #layout7>
      dist.yield %3#1, %4#0, %4#1, %5 : tensor<1x8x16xf32, #layout5>, tensor<8x16xf32, #layout1>, tensor<1x8x16xf32, #layout6>, tensor<f32, #layout7>
    }
    %1:2 = dist.section backward {
      %3 = nn.fill "loss"() {value = 1.000000e+00 : f64} : () -> tensor<f32, #layout8>
      %4 = nn.mse_loss_grad "loss"(%3, %0#1, %arg1) : (tensor<f32, #layout8>, tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
      %5:2 = nn.repeat "layers" first 1 count 1 reverse carry(%arg8 = %4 : tensor<8x16xf32, #layout1>) slice(%arg9 = %arg3 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg10 = %0#2 : tensor<1x8x16xf32, #layout6> to tensor<8x16xf32, #layout1>) -> (tensor<8x16xf32, #layout>, tensor<1x16x16xf32, #layout9>) {
        %7 = nn.recompute "layers[*]" (%arg11 = %arg10 : tensor<8x16xf32, #layout1>, %arg12 = %arg9 : tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout1> {
          %13 = dist.all_gather %arg11 dim 1 over {tp} for activation {proteus.path = "fc"} : tensor<8x16xf32, #layout1> -> tensor<8x16xf32, #layout>
          %14 = nn.linear "fc"(%13, %arg12) : (tensor<8x16xf32, #layout>, tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout1>
          %15 = nn.relu "act"(%14) : (tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
          nn.yield %15 : tensor<8x16xf32, #layout1>
        }
        %8 = nn.relu_grad "act"(%arg8, %7) : (tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
        %9 = nn.linear_dgrad "fc"(%8, %arg9) : (tensor<8x16xf32, #layout1>, tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout10>
        %10 = dist.all_gather %arg10 dim 1 over {tp} for activation {proteus.path = "fc"} : tensor<8x16xf32, #layout1> -> tensor<8x16xf32, #layout>
        %11 = nn.linear_wgrad "fc"(%8, %10) : (tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout>) -> tensor<16x16xf32, #layout11>
        %12 = dist.all_reduce sum %9 over {tp} for activation {proteus.path = "fc"} : tensor<8x16xf32, #layout10> -> tensor<8x16xf32, #layout>
        nn.yield %12, %11 : tensor<8x16xf32, #layout>, tensor<16x16xf32, #layout11>
      }
      %6 = nn.repeat "layers" count 1 reverse slice(%arg8 = %arg2 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg9 = %0#0 : tensor<1x8x16xf32, #layout5> to tensor<8x16xf32, #layout>) -> tensor<1x16x16xf32, #layout9> {
        %7 = nn.recompute "layers[*]" (%arg10 = %arg9 : tensor<8x16xf32, #layout>, %arg11 = %arg8 : tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout1> {
          %11 = nn.linear "fc"(%arg10, %arg11) : (tensor<8x16xf32, #layout>, tensor<16x16xf32, #layout4>) -> tensor<8x16xf32, #layout1>
          %12 = nn.relu "act"(%11) : (tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
          nn.yield %12 : tensor<8x16xf32, #layout1>
        }
        %8 = dist.slice %5#0 dim 1 over {tp} {proteus.path = "act"} : tensor<8x16xf32, #layout> -> tensor<8x16xf32, #layout1>
        %9 = nn.relu_grad "act"(%8, %7) : (tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout1>) -> tensor<8x16xf32, #layout1>
        %10 = nn.linear_wgrad "fc"(%9, %arg9) : (tensor<8x16xf32, #layout1>, tensor<8x16xf32, #layout>) -> tensor<16x16xf32, #layout11>
        nn.yield %10 : tensor<16x16xf32, #layout11>
      }
      dist.yield %5#1, %6 : tensor<1x16x16xf32, #layout9>, tensor<1x16x16xf32, #layout9>
    }
    %2:7 = dist.section update once {
      %3 = dist.accumulate %1#0 {proteus.path = "layers"} : tensor<1x16x16xf32, #layout9> -> tensor<1x16x16xf32, #layout12>
      %4 = dist.accumulate %1#1 {proteus.path = "layers"} : tensor<1x16x16xf32, #layout9> -> tensor<1x16x16xf32, #layout12>
      %5:2 = dist.fused_reduce all_reduce sum %3, %4 over {dp} stacked [true, true] buckets [[0[0:1], 1[0:1]]] for gradient : (tensor<1x16x16xf32, #layout12>, tensor<1x16x16xf32, #layout12>) -> (tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>)
      %6 = dist.accumulate %0#3 {proteus.path = "loss"} : tensor<f32, #layout7> -> tensor<f32, #layout3>
      %7:3 = nn.repeat "layers" count 1 slice(%arg8 = %arg2 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg9 = %5#1 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg10 = %arg4 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg11 = %arg5 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>) -> (tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>) {
        %9:3 = nn.adam "fc.weight"(%arg8, %arg9, %arg10, %arg11) : (tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>) -> (tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>)
        nn.yield %9#0, %9#1, %9#2 : tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>
      }
      %8:3 = nn.repeat "layers" first 1 count 1 slice(%arg8 = %arg3 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg9 = %5#0 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg10 = %arg6 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>, %arg11 = %arg7 : tensor<1x16x16xf32, #layout2> to tensor<16x16xf32, #layout4>) -> (tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>) {
        %9:3 = nn.adam "fc.weight"(%arg8, %arg9, %arg10, %arg11) : (tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>) -> (tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>)
        nn.yield %9#0, %9#1, %9#2 : tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>, tensor<16x16xf32, #layout4>
      }
      dist.yield %6, %7#0, %7#1, %7#2, %8#0, %8#1, %8#2 : tensor<f32, #layout3>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>
    }
    dist.return %2#0, %2#1, %2#2, %2#3, %2#4, %2#5, %2#6 : tensor<f32, #layout3>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>, tensor<1x16x16xf32, #layout2>
  }
  dist.schedule @schedule programs [@mlp] order [
    [F0, B0, F1, B1, U]
  ]
}

