// Values that are read twice, 40 times in a row: what they are made from is
// looked at once. Following every use would not come to an end.

// RUN: proteus-opt %s --lower-strategy -split-input-file | FileCheck %s

// What is made from nothing takes the layout of its reader for free.
// CHECK-LABEL: dist.program @from_nothing
// CHECK-NOT:     dist.slice
// CHECK:         nn.fill "fill"
// CHECK-NOT:     dist.slice
// CHECK:         nn.add "last"
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @from_nothing(%x: tensor<16x4xf32> {nn.role = "input"}, %w: tensor<4x4xf32> {nn.role = "parameter"}) -> tensor<16x4xf32> {
    %0 = nn.fill "fill"() {value = 1.0 : f64} : () -> tensor<16x4xf32>
    %1 = nn.add "twice0"(%0, %0) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %2 = nn.add "twice1"(%1, %1) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %3 = nn.add "twice2"(%2, %2) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %4 = nn.add "twice3"(%3, %3) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %5 = nn.add "twice4"(%4, %4) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %6 = nn.add "twice5"(%5, %5) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %7 = nn.add "twice6"(%6, %6) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %8 = nn.add "twice7"(%7, %7) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %9 = nn.add "twice8"(%8, %8) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %10 = nn.add "twice9"(%9, %9) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %11 = nn.add "twice10"(%10, %10) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %12 = nn.add "twice11"(%11, %11) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %13 = nn.add "twice12"(%12, %12) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %14 = nn.add "twice13"(%13, %13) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %15 = nn.add "twice14"(%14, %14) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %16 = nn.add "twice15"(%15, %15) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %17 = nn.add "twice16"(%16, %16) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %18 = nn.add "twice17"(%17, %17) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %19 = nn.add "twice18"(%18, %18) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %20 = nn.add "twice19"(%19, %19) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %21 = nn.add "twice20"(%20, %20) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %22 = nn.add "twice21"(%21, %21) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %23 = nn.add "twice22"(%22, %22) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %24 = nn.add "twice23"(%23, %23) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %25 = nn.add "twice24"(%24, %24) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %26 = nn.add "twice25"(%25, %25) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %27 = nn.add "twice26"(%26, %26) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %28 = nn.add "twice27"(%27, %27) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %29 = nn.add "twice28"(%28, %28) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %30 = nn.add "twice29"(%29, %29) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %31 = nn.add "twice30"(%30, %30) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %32 = nn.add "twice31"(%31, %31) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %33 = nn.add "twice32"(%32, %32) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %34 = nn.add "twice33"(%33, %33) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %35 = nn.add "twice34"(%34, %34) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %36 = nn.add "twice35"(%35, %35) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %37 = nn.add "twice36"(%36, %36) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %38 = nn.add "twice37"(%37, %37) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %39 = nn.add "twice38"(%38, %38) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %40 = nn.add "twice39"(%39, %39) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %y = nn.linear "fc"(%x, %w) : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
    %z = nn.add "last"(%y, %40) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    return %z : tensor<16x4xf32>
  }

  strategy.tree @s for @from_nothing {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}

// -----

// The gradient of a bias that all layers share is summed up over the layers
// first, and over the devices once.
// CHECK-LABEL: dist.program @shared_bias
// CHECK:         section backward
// CHECK-NOT:     dist.all_reduce
// CHECK:         section update
// CHECK:         dist.fused_reduce
module attributes {proteus.cluster = "dgx-a100"} {
  func.func @shared_bias(%x: tensor<16x4xf32> {nn.role = "input"}, %b: tensor<4xf32> {nn.role = "parameter"}, %w: tensor<3x4x4xf32> {nn.role = "parameter"}, %t: tensor<16xi32> {nn.role = "input"}) -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %y = nn.repeat "layers" count 3 carry(%h = %x : tensor<16x4xf32>) slice(%wi = %w : tensor<3x4x4xf32> to tensor<4x4xf32>) -> (tensor<16x4xf32>) {
      %0 = nn.linear "fc"(%h, %wi, %b) : (tensor<16x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<16x4xf32>
      %1 = nn.add "twice0"(%0, %0) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %2 = nn.add "twice1"(%1, %1) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %3 = nn.add "twice2"(%2, %2) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %4 = nn.add "twice3"(%3, %3) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %5 = nn.add "twice4"(%4, %4) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %6 = nn.add "twice5"(%5, %5) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %7 = nn.add "twice6"(%6, %6) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %8 = nn.add "twice7"(%7, %7) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %9 = nn.add "twice8"(%8, %8) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %10 = nn.add "twice9"(%9, %9) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %11 = nn.add "twice10"(%10, %10) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %12 = nn.add "twice11"(%11, %11) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %13 = nn.add "twice12"(%12, %12) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %14 = nn.add "twice13"(%13, %13) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %15 = nn.add "twice14"(%14, %14) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %16 = nn.add "twice15"(%15, %15) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %17 = nn.add "twice16"(%16, %16) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %18 = nn.add "twice17"(%17, %17) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %19 = nn.add "twice18"(%18, %18) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %20 = nn.add "twice19"(%19, %19) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %21 = nn.add "twice20"(%20, %20) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %22 = nn.add "twice21"(%21, %21) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %23 = nn.add "twice22"(%22, %22) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %24 = nn.add "twice23"(%23, %23) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %25 = nn.add "twice24"(%24, %24) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %26 = nn.add "twice25"(%25, %25) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %27 = nn.add "twice26"(%26, %26) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %28 = nn.add "twice27"(%27, %27) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %29 = nn.add "twice28"(%28, %28) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %30 = nn.add "twice29"(%29, %29) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %31 = nn.add "twice30"(%30, %30) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %32 = nn.add "twice31"(%31, %31) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %33 = nn.add "twice32"(%32, %32) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %34 = nn.add "twice33"(%33, %33) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %35 = nn.add "twice34"(%34, %34) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %36 = nn.add "twice35"(%35, %35) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %37 = nn.add "twice36"(%36, %36) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %38 = nn.add "twice37"(%37, %37) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %39 = nn.add "twice38"(%38, %38) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %40 = nn.add "twice39"(%39, %39) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      nn.yield %40 : tensor<16x4xf32>
    }
    %loss, %e = nn.cross_entropy "loss"(%y, %t) : (tensor<16x4xf32>, tensor<16xi32>) -> (tensor<f32>, tensor<16xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @s for @shared_bias {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}
