
func.func private @gpt()

strategy.tree @megatron for @gpt {
  mesh [dp = 16, pp = 8, tp = 8]
  schedule micro_batches = 96 order = "1f1b"
  bucket size = 26214400 first = 1048576
  split op [batch -> dp]
  node "embedding" {
    split op [vocab -> tp]
  }
  node "layers[*]" {
    stages pp
    recompute
    node "attention.qkv" { split op [out -> tp] }
    node "attention.proj" {
      split op [in -> tp]
      split weight [0 -> [dp, tp]]
    }
  }
  node "head" { at [pp = 7] }
}

strategy.tree @items for @gpt {
  mesh [a = 2, b = 1, size = 2]
  split op [z -> a, y -> b]
  split weight [out -> [size]]
  split gradient [1 -> [b, a], 0 -> size]
  split state [0 -> a]
  split output [batch -> a]
  split output_gradient [batch -> []]
  split input 0 [batch -> a]
  split input 1 [batch -> b]
}

strategy.tree @options for @gpt {
  mesh [dp = 2, pp = 2] devices [0, 1, 4, 5]
  schedule micro_batches = 8 order = "gpipe" max_ongoing = 4 virtual_stages = 2
  bucket first = 1 gather = 2 by_operation all_reduce
  recompute
  at [pp = 0, dp = 1]
}

strategy.tree @overlap for @gpt {
  mesh [dp = 2]
  bucket size = 8 per_layer
  overlap tensor = "chunked" chunks = 8 messages = false
  prefetch depth = 2 once
}

strategy.tree @spelled for @gpt attributes {note = "x"} {
  strategy.mesh [dp = 1] {note = 1 : i64}
  strategy.schedule micro_batches = 1
  strategy.bucket size = 1
  strategy.node "**.mlp[0:4].*" attributes {note = "y"} {}
}

strategy.tree @large for @gpt {
  mesh [a = 65536, b = 32768]
}

strategy.tree @far for @gpt {
  mesh [a = 1] devices [9223372036854775807]
}

func.func private @attributes() attributes {
  a = #strategy.partition<[batch -> [dp], out -> [a, b]]>,
  b = #strategy.part<0 -> tp>,
  c = #strategy.item<input 2>,
  d = #strategy.axis<dp = 16>,
  e = #strategy.coordinate<pp = 7>
}

strategy.tree @sharded for @gpt {
  mesh [dp = 4]
  split gradient [0 -> dp]
  split output [1 -> dp]
  split output_gradient [1 -> dp]
  split input 0 [seq -> []]
  prefetch depth = 2 reshard_after_forward = false
  offload state
  node "layers[*]" {
    prefetch depth = 0
    offload weight state activation
    node "fc" {
      prefetch reshard_after_forward = true
      offload none
    }
  }
}

strategy.tree @listed for @gpt {
  mesh [pp = 2]
  schedule micro_batches = 2 order = "explicit" virtual_stages = 2
  order stage 0 [F0, F1.1, I0, W0.1]
  order stage 1 [B0]
  node "layers[*]" {
    stages pp of [3, 4, 4, 1]
  }
}

strategy.tree @parts_of_axes for @gpt {
  mesh [d = 8, p = 4]
  scatter_gather
  split op [batch -> d:(1)2, out -> [d:(2)2, d:(4)2]]
  node "a" {
    at [p:(2)2 = 1]
  }
  node "b" {
    stages p:(1)2
  }
}

strategy.tree @context for @gpt {
  mesh [dp = 2, cp = 4]
  split op [batch -> dp, seq -> zigzag cp, key -> ring zigzag cp]
  node "layers" { split op [seq -> zigzag [dp, cp], key -> ring [dp, cp]] }
}
