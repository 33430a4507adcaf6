// A schedule that forgets the backward pass of a micro-batch.
#mesh = #dist.mesh<[pp = 1], micro = 2>
dist.program @stage0 mesh #mesh at [pp = 0] () {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

dist.schedule @mine programs [@stage0] order [
  [F0, F1, B0]
]
