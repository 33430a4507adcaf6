// RUN: proteus-opt %s -split-input-file -verify-diagnostics

#mesh = #dist.mesh<[dp = 3]>
// expected-error @+1 {{axis 'dp' is used twice}}
#a = #dist.layout<#mesh, [{dp}], flat = {dp}>

// -----

#mesh = #dist.mesh<[dp = 3], micro = 2>
// expected-error @+1 {{the time axis 'micro' cannot belong to a flat cut}}
#a = #dist.layout<#mesh, [{}], flat = {micro}>

// -----

#mesh = #dist.mesh<[dp = 3]>
// expected-error @+1 {{expected at least one axis}}
#a = #dist.layout<#mesh, [{}], flat = {}>

// -----

#mesh = #dist.mesh<[dp = 3]>
// expected-error @+1 {{granule 0 of a flat cut, expected a positive number}}
#a = #dist.layout<#mesh, [{}], flat = {dp} granule 0>

// -----

#mesh = #dist.mesh<[dp = 3]>
// expected-error @+1 {{a flat cut leaves 1 leading dimensions whole, but the tensor has 1}}
#a = #dist.layout<#mesh, [{}], flat = {dp} leading 1>

// -----

#mesh = #dist.mesh<[dp = 3, tp = 2]>
#flat = #dist.layout<#mesh, [{}, {}], flat = {dp}>
#both = #dist.layout<#mesh, [{tp}, {}], flat = {dp}>
func.func @cut_block(%0: tensor<8x4xf32, #flat>) {
  // expected-error @+1 {{the operand has a flat cut over {dp}; gather it first}}
  %1 = dist.slice %0 dim 0 over {tp} : tensor<8x4xf32, #flat> -> tensor<8x4xf32, #both>
  return
}

// -----

#mesh = #dist.mesh<[dp = 3]>
#whole = #dist.layout<#mesh, [{}, {}]>
#flat = #dist.layout<#mesh, [{}, {}], flat = {dp}>
func.func @not_cut(%0: tensor<8x4xf32, #whole>) {
  // expected-error @+1 {{axes {dp} are not the minor axes of the flat cut, which is sharded by {}}}
  %1 = dist.all_gather %0 flat over {dp} : tensor<8x4xf32, #whole> -> tensor<8x4xf32, #whole>
  return
}

// -----

#mesh = #dist.mesh<[dp = 3, tp = 2]>
#flat = #dist.layout<#mesh, [{}, {}], flat = {dp, tp}>
#part = #dist.layout<#mesh, [{}, {}], flat = {dp}>
func.func @padding(%0: tensor<3x5xf32, #flat>) {
  // expected-error @+1 {{the padded parts over {dp, tp} and over {dp} do not nest}}
  %1 = dist.all_gather %0 flat over {tp} : tensor<3x5xf32, #flat> -> tensor<3x5xf32, #part>
  return
}
