// One all-reduce of 4 MB over four devices, and nothing else. Tests change the mesh
// and the size.

#mesh = #dist.mesh<[dp = 4]>
#partial = #dist.layout<#mesh, [{}, {}], partial = [sum {dp}]>
#whole = #dist.layout<#mesh, [{}, {}]>
!partial = tensor<1000x1000xf32, #partial>
!whole = tensor<1000x1000xf32, #whole>
module {
  dist.program @reduce mesh #mesh (%x: !partial {nn.role = "input", nn.path = "x"}) -> !whole {
    %f = dist.section forward {
      %0 = dist.all_reduce sum %x over {dp} for activation : !partial -> !whole
      dist.yield %0 : !whole
    }
    dist.return %f : !whole
  }
  dist.schedule @schedule programs [@reduce] order [[F0]]
}
