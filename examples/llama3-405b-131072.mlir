// A Llama 3 405B on 131,072 H100: tensor parallel over the 8 GPUs of a node with
// sequence parallelism, context parallel over 2, a pipeline of 16 stages with 4 chunks
// each, data parallel over 512 with optimizer states split over all replicas; 64
// micro-batches per pipeline. The tree was written by
//
//   --apply-strategy="dp=512 tp=8 cp=2 pp=16 sp=true micro-batches=64
//     schedule=interleaved virtual-stages=4 zero=1 recompute=selective"
//
// 32 of the 131,072 ranks are simulated: the two context-parallel ranks of a stage
// differ in how much of causal attention they compute.
//
//   proteus-opt --lower-strategy --simulate=summary examples/llama3-405b-131072.mlir

module attributes {proteus.cluster = "dgx-h100:16384"} {
  func.func @llama(
      %ids: tensor<32768x8192xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<32768x8192xi32> {nn.role = "input", nn.path = "labels"},
      %table: tensor<128256x16384xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %norm1: tensor<126x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].norm_1.scale"},
      %wq: tensor<126x16384x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.q.weight"},
      %wk: tensor<126x1024x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.k.weight"},
      %wv: tensor<126x1024x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.v.weight"},
      %wo: tensor<126x16384x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %norm2: tensor<126x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].norm_2.scale"},
      %wg: tensor<126x53248x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.gate.weight"},
      %wu: tensor<126x53248x16384xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.up.weight"},
      %wd: tensor<126x16384x53248xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.down.weight"},
      %normf: tensor<16384xbf16> {nn.role = "parameter", nn.path = "norm_f.scale"},
      %head: tensor<128256x16384xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %x = nn.embedding "embedding"(%ids, %table) : (tensor<32768x8192xi32>, tensor<128256x16384xbf16>) -> tensor<32768x8192x16384xbf16>

    %y = nn.repeat "layers" count 126
        carry(%h = %x : tensor<32768x8192x16384xbf16>)
        slice(%norm1_i = %norm1 : tensor<126x16384xbf16> to tensor<16384xbf16>,
              %wq_i = %wq : tensor<126x16384x16384xbf16> to tensor<16384x16384xbf16>,
              %wk_i = %wk : tensor<126x1024x16384xbf16> to tensor<1024x16384xbf16>,
              %wv_i = %wv : tensor<126x1024x16384xbf16> to tensor<1024x16384xbf16>,
              %wo_i = %wo : tensor<126x16384x16384xbf16> to tensor<16384x16384xbf16>,
              %norm2_i = %norm2 : tensor<126x16384xbf16> to tensor<16384xbf16>,
              %wg_i = %wg : tensor<126x53248x16384xbf16> to tensor<53248x16384xbf16>,
              %wu_i = %wu : tensor<126x53248x16384xbf16> to tensor<53248x16384xbf16>,
              %wd_i = %wd : tensor<126x16384x53248xbf16> to tensor<16384x53248xbf16>)
        -> (tensor<32768x8192x16384xbf16>) {
      %n1 = nn.rms_norm "norm_1"(%h, %norm1_i) : (tensor<32768x8192x16384xbf16>, tensor<16384xbf16>) -> tensor<32768x8192x16384xbf16>
      %q = nn.linear "attention.q"(%n1, %wq_i) : (tensor<32768x8192x16384xbf16>, tensor<16384x16384xbf16>) -> tensor<32768x8192x16384xbf16>
      %k = nn.linear "attention.k"(%n1, %wk_i) : (tensor<32768x8192x16384xbf16>, tensor<1024x16384xbf16>) -> tensor<32768x8192x1024xbf16>
      %v = nn.linear "attention.v"(%n1, %wv_i) : (tensor<32768x8192x16384xbf16>, tensor<1024x16384xbf16>) -> tensor<32768x8192x1024xbf16>
      %qr = nn.rope "attention.rope_q"(%q) {heads = 128 : i64} : (tensor<32768x8192x16384xbf16>) -> tensor<32768x8192x16384xbf16>
      %kr = nn.rope "attention.rope_k"(%k) {heads = 8 : i64} : (tensor<32768x8192x1024xbf16>) -> tensor<32768x8192x1024xbf16>
      %a, %rows = nn.attention "attention.core"(%qr, %kr, %v) {heads = 128 : i64, kv_heads = 8 : i64, causal} : (tensor<32768x8192x16384xbf16>, tensor<32768x8192x1024xbf16>, tensor<32768x8192x1024xbf16>) -> (tensor<32768x8192x16384xbf16>, tensor<32768x128x8192xf32>)
      %p = nn.linear "attention.proj"(%a, %wo_i) : (tensor<32768x8192x16384xbf16>, tensor<16384x16384xbf16>) -> tensor<32768x8192x16384xbf16>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<32768x8192x16384xbf16>, tensor<32768x8192x16384xbf16>) -> tensor<32768x8192x16384xbf16>
      %n2 = nn.rms_norm "norm_2"(%r1, %norm2_i) : (tensor<32768x8192x16384xbf16>, tensor<16384xbf16>) -> tensor<32768x8192x16384xbf16>
      %g = nn.linear "mlp.gate"(%n2, %wg_i) : (tensor<32768x8192x16384xbf16>, tensor<53248x16384xbf16>) -> tensor<32768x8192x53248xbf16>
      %u = nn.linear "mlp.up"(%n2, %wu_i) : (tensor<32768x8192x16384xbf16>, tensor<53248x16384xbf16>) -> tensor<32768x8192x53248xbf16>
      %z = nn.swiglu "mlp.act"(%g, %u) : (tensor<32768x8192x53248xbf16>, tensor<32768x8192x53248xbf16>) -> tensor<32768x8192x53248xbf16>
      %d = nn.linear "mlp.down"(%z, %wd_i) : (tensor<32768x8192x53248xbf16>, tensor<16384x53248xbf16>) -> tensor<32768x8192x16384xbf16>
      %r2 = nn.add "residual_2"(%r1, %d) : (tensor<32768x8192x16384xbf16>, tensor<32768x8192x16384xbf16>) -> tensor<32768x8192x16384xbf16>
      nn.yield %r2 : tensor<32768x8192x16384xbf16>
    }

    %n = nn.rms_norm "norm_f"(%y, %normf) : (tensor<32768x8192x16384xbf16>, tensor<16384xbf16>) -> tensor<32768x8192x16384xbf16>
    %logits = nn.linear "head"(%n, %head) : (tensor<32768x8192x16384xbf16>, tensor<128256x16384xbf16>) -> tensor<32768x8192x128256xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<32768x8192x128256xbf16>, tensor<32768x8192xi32>) -> (tensor<f32>, tensor<32768x8192xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @s for @llama {
    mesh [dp = 512, pp = 16, cp = 2, tp = 8]
    schedule micro_batches = 64 order = "interleaved" virtual_stages = 4
    split op [batch -> dp, seq -> cp]
    node "embedding" {
      split op [vocab -> tp]
      split state [vocab -> tp, hidden -> [dp, cp]]
    }
    node "layers[*]" {
      stages pp
      node "norm_1" {
        split op [seq -> [cp, tp]]
        split state [0 -> [dp, cp]]
      }
      node "attention.q" {
        split op [out -> tp]
        split state [out -> [tp, dp, cp]]
      }
      node "attention.k" {
        split op [out -> tp]
        split state [out -> tp, in -> [dp, cp]]
      }
      node "attention.v" {
        split op [out -> tp]
        split state [out -> tp, in -> [dp, cp]]
      }
      node "attention.core" {
        recompute
      }
      node "attention.proj" {
        split op [in -> tp]
        split state [out -> [dp, cp], in -> tp]
      }
      node "residual_1" {
        split op [seq -> [cp, tp]]
      }
      node "norm_2" {
        split op [seq -> [cp, tp]]
        split state [0 -> [dp, cp]]
      }
      node "mlp.gate" {
        split op [out -> tp]
        split state [out -> tp, in -> [dp, cp]]
      }
      node "mlp.up" {
        split op [out -> tp]
        split state [out -> tp, in -> [dp, cp]]
      }
      node "mlp.down" {
        split op [in -> tp]
        split state [out -> [dp, cp], in -> tp]
      }
      node "residual_2" {
        split op [seq -> [cp, tp]]
      }
    }
    node "norm_f" {
      split op [seq -> [cp, tp]]
      split state [0 -> [dp, cp]]
    }
    node "head" {
      split op [out -> tp]
      split state [out -> tp, in -> [dp, cp]]
    }
  }
}

