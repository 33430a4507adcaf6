// Layers that are written once and layers that are written out give the same
// figures: time, memory and every collective. So do all ranks on their own.

// RUN: rm -rf %t && split-file %s %t

// RUN: proteus-opt %S/Inputs/flat-gradient-before-recompute.mlir --lower-strategy --simulate=report=%t/gradient-before-recompute.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-gradient-before-recompute.mlir --unroll-repeats --lower-strategy --simulate=report=%t/gradient-before-recompute-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/gradient-before-recompute.json %t/gradient-before-recompute-flat.json

// RUN: proteus-opt %S/Inputs/flat-offload-one-layer.mlir --lower-strategy --simulate=report=%t/offload-one-layer.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-offload-one-layer.mlir --unroll-repeats --lower-strategy --simulate=report=%t/offload-one-layer-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/offload-one-layer.json %t/offload-one-layer-flat.json

// RUN: proteus-opt %S/Inputs/flat-prefetch-depth.mlir --lower-strategy --simulate=report=%t/prefetch-depth.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-prefetch-depth.mlir --unroll-repeats --lower-strategy --simulate=report=%t/prefetch-depth-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/prefetch-depth.json %t/prefetch-depth-flat.json

// RUN: proteus-opt %S/Inputs/flat-recompute-input.mlir --lower-strategy --simulate=report=%t/recompute-input.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-recompute-input.mlir --unroll-repeats --lower-strategy --simulate=report=%t/recompute-input-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/recompute-input.json %t/recompute-input-flat.json

// RUN: proteus-opt %S/Inputs/flat-shared-parameter.mlir --lower-strategy --simulate=report=%t/shared-parameter.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-shared-parameter.mlir --unroll-repeats --lower-strategy --simulate=report=%t/shared-parameter-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/shared-parameter.json %t/shared-parameter-flat.json

// RUN: proteus-opt %S/Inputs/flat-shared-parameter-bucket.mlir --lower-strategy --simulate=report=%t/shared-parameter-bucket.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-shared-parameter-bucket.mlir --unroll-repeats --lower-strategy --simulate=report=%t/shared-parameter-bucket-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/shared-parameter-bucket.json %t/shared-parameter-bucket-flat.json

// RUN: proteus-opt %S/Inputs/flat-shared-parameter-chunks.mlir --lower-strategy --simulate=report=%t/shared-parameter-chunks.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-shared-parameter-chunks.mlir --unroll-repeats --lower-strategy --simulate=report=%t/shared-parameter-chunks-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/shared-parameter-chunks.json %t/shared-parameter-chunks-flat.json

// RUN: proteus-opt %S/Inputs/flat-nested-recompute.mlir --lower-strategy --simulate=report=%t/nested-recompute.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-nested-recompute.mlir --unroll-repeats --lower-strategy --simulate=report=%t/nested-recompute-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/nested-recompute.json %t/nested-recompute-flat.json

// RUN: proteus-opt %S/Inputs/flat-order.mlir --lower-strategy --simulate=report=%t/order.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-order.mlir --unroll-repeats --lower-strategy --simulate=report=%t/order-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/order.json %t/order-flat.json

// RUN: proteus-opt %S/Inputs/flat-root-recompute.mlir --lower-strategy --simulate=report=%t/root-recompute.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-root-recompute.mlir --unroll-repeats --lower-strategy --simulate=report=%t/root-recompute-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/root-recompute.json %t/root-recompute-flat.json

// RUN: proteus-opt %S/Inputs/flat-two-forms-gpt.mlir --lower-strategy --simulate=report=%t/two-forms-gpt.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-two-forms-gpt.mlir --unroll-repeats --lower-strategy --simulate=report=%t/two-forms-gpt-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/two-forms-gpt.json %t/two-forms-gpt-flat.json

// RUN: proteus-opt %S/Inputs/flat-two-forms.mlir --lower-strategy --simulate=report=%t/two-forms.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-two-forms.mlir --unroll-repeats --lower-strategy --simulate=report=%t/two-forms-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/two-forms.json %t/two-forms-flat.json

// RUN: proteus-opt %S/Inputs/flat-two-messages.mlir --lower-strategy --simulate=report=%t/two-messages.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-two-messages.mlir --unroll-repeats --lower-strategy --simulate=report=%t/two-messages-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/two-messages.json %t/two-messages-flat.json

// RUN: proteus-opt %S/Inputs/flat-nested-conversion.mlir --lower-strategy --simulate=report=%t/nested-conversion.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-nested-conversion.mlir --unroll-repeats --lower-strategy --simulate=report=%t/nested-conversion-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/nested-conversion.json %t/nested-conversion-flat.json

// RUN: proteus-opt %S/Inputs/flat-received-offload.mlir --lower-strategy --simulate=report=%t/received-offload.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-received-offload.mlir --unroll-repeats --lower-strategy --simulate=report=%t/received-offload-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/received-offload.json %t/received-offload-flat.json

// RUN: proteus-opt %S/Inputs/flat-saved-conversion.mlir --lower-strategy --simulate=report=%t/saved-conversion.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-saved-conversion.mlir --unroll-repeats --lower-strategy --simulate=report=%t/saved-conversion-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/saved-conversion.json %t/saved-conversion-flat.json

// RUN: proteus-opt %S/Inputs/flat-offloaded-results.mlir --lower-strategy --simulate=report=%t/offloaded-results.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-offloaded-results.mlir --unroll-repeats --lower-strategy --simulate=report=%t/offloaded-results-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/offloaded-results.json %t/offloaded-results-flat.json

// RUN: proteus-opt %S/Inputs/flat-outer-message.mlir --lower-strategy --simulate=report=%t/outer-message.json -o /dev/null
// RUN: proteus-opt %S/Inputs/flat-outer-message.mlir --unroll-repeats --lower-strategy --simulate=report=%t/outer-message-flat.json -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/outer-message.json %t/outer-message-flat.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@data_parallel --simulate=report=%t/data_parallel.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@data_parallel --simulate=report=%t/data_parallel-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@data_parallel --simulate="fold=none report=%t/data_parallel-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/data_parallel.json %t/data_parallel-flat.json %t/data_parallel-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@small_buckets --simulate=report=%t/small_buckets.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@small_buckets --simulate=report=%t/small_buckets-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@small_buckets --simulate="fold=none report=%t/small_buckets-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/small_buckets.json %t/small_buckets-flat.json %t/small_buckets-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@tensor_parallel --simulate=report=%t/tensor_parallel.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@tensor_parallel --simulate=report=%t/tensor_parallel-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@tensor_parallel --simulate="fold=none report=%t/tensor_parallel-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/tensor_parallel.json %t/tensor_parallel-flat.json %t/tensor_parallel-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@pipeline --simulate=report=%t/pipeline.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@pipeline --simulate=report=%t/pipeline-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@pipeline --simulate="fold=none report=%t/pipeline-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/pipeline.json %t/pipeline-flat.json %t/pipeline-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@uneven_pipeline --simulate=report=%t/uneven_pipeline.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@uneven_pipeline --simulate=report=%t/uneven_pipeline-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@uneven_pipeline --simulate="fold=none report=%t/uneven_pipeline-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/uneven_pipeline.json %t/uneven_pipeline-flat.json %t/uneven_pipeline-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@recomputation --simulate=report=%t/recomputation.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@recomputation --simulate=report=%t/recomputation-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@recomputation --simulate="fold=none report=%t/recomputation-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/recomputation.json %t/recomputation-flat.json %t/recomputation-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sharded_state --simulate=report=%t/sharded_state.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@sharded_state --simulate=report=%t/sharded_state-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sharded_state --simulate="fold=none report=%t/sharded_state-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/sharded_state.json %t/sharded_state-flat.json %t/sharded_state-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sharded_state_and_tensors --simulate=report=%t/sharded_state_and_tensors.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@sharded_state_and_tensors --simulate=report=%t/sharded_state_and_tensors-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sharded_state_and_tensors --simulate="fold=none report=%t/sharded_state_and_tensors-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/sharded_state_and_tensors.json %t/sharded_state_and_tensors-flat.json %t/sharded_state_and_tensors-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sharded_weights --simulate=report=%t/sharded_weights.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@sharded_weights --simulate=report=%t/sharded_weights-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sharded_weights --simulate="fold=none report=%t/sharded_weights-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/sharded_weights.json %t/sharded_weights-flat.json %t/sharded_weights-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sequence --simulate=report=%t/sequence.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@sequence --simulate=report=%t/sequence-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@sequence --simulate="fold=none report=%t/sequence-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/sequence.json %t/sequence-flat.json %t/sequence-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@micro_batches --simulate=report=%t/micro_batches.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@micro_batches --simulate=report=%t/micro_batches-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@micro_batches --simulate="fold=none report=%t/micro_batches-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/micro_batches.json %t/micro_batches-flat.json %t/micro_batches-ranks.json

// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@all_of_it --simulate=report=%t/all_of_it.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --unroll-repeats --lower-strategy=strategy=@all_of_it --simulate=report=%t/all_of_it-flat.json -o /dev/null
// RUN: proteus-opt %t/gpt.mlir --lower-strategy=strategy=@all_of_it --simulate="fold=none report=%t/all_of_it-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/all_of_it.json %t/all_of_it-flat.json %t/all_of_it-ranks.json

// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_data_parallel --simulate=report=%t/input_data_parallel.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --unroll-repeats --lower-strategy=strategy=@input_data_parallel --simulate=report=%t/input_data_parallel-flat.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_data_parallel --simulate="fold=none report=%t/input_data_parallel-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/input_data_parallel.json %t/input_data_parallel-flat.json %t/input_data_parallel-ranks.json

// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_sharded_state --simulate=report=%t/input_sharded_state.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --unroll-repeats --lower-strategy=strategy=@input_sharded_state --simulate=report=%t/input_sharded_state-flat.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_sharded_state --simulate="fold=none report=%t/input_sharded_state-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/input_sharded_state.json %t/input_sharded_state-flat.json %t/input_sharded_state-ranks.json

// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_sharded_weights --simulate=report=%t/input_sharded_weights.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --unroll-repeats --lower-strategy=strategy=@input_sharded_weights --simulate=report=%t/input_sharded_weights-flat.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_sharded_weights --simulate="fold=none report=%t/input_sharded_weights-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/input_sharded_weights.json %t/input_sharded_weights-flat.json %t/input_sharded_weights-ranks.json

// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_pipeline --simulate=report=%t/input_pipeline.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --unroll-repeats --lower-strategy=strategy=@input_pipeline --simulate=report=%t/input_pipeline-flat.json -o /dev/null
// RUN: proteus-opt %t/input.mlir --lower-strategy=strategy=@input_pipeline --simulate="fold=none report=%t/input_pipeline-ranks.json" -o /dev/null
// RUN: python3 %S/Inputs/compare.py %t/input_pipeline.json %t/input_pipeline-flat.json %t/input_pipeline-ranks.json

//--- gpt.mlir

module attributes {proteus.cluster = "dgx-a100:4"} {
  func.func @gpt2(
      %ids: tensor<16x8xi32> {nn.role = "input", nn.path = "ids"},
      %labels: tensor<16x8xi32> {nn.role = "input", nn.path = "labels"},
      %wte: tensor<96x48xbf16> {nn.role = "parameter", nn.path = "embedding.weight"},
      %wpe: tensor<8x48xbf16> {nn.role = "parameter", nn.path = "position.weight"},
      // One slice per layer.
      %ln1_g: tensor<4x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.scale"},
      %ln1_b: tensor<4x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_1.shift"},
      %wqkv: tensor<4x144x48xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.weight"},
      %bqkv: tensor<4x144xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.qkv.bias"},
      %wproj: tensor<4x48x48xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.weight"},
      %bproj: tensor<4x48xbf16> {nn.role = "parameter", nn.path = "layers[*].attention.proj.bias"},
      %ln2_g: tensor<4x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.scale"},
      %ln2_b: tensor<4x48xbf16> {nn.role = "parameter", nn.path = "layers[*].ln_2.shift"},
      %wfc1: tensor<4x192x48xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.weight"},
      %bfc1: tensor<4x192xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc1.bias"},
      %wfc2: tensor<4x48x192xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.weight"},
      %bfc2: tensor<4x48xbf16> {nn.role = "parameter", nn.path = "layers[*].mlp.fc2.bias"},
      %lnf_g: tensor<48xbf16> {nn.role = "parameter", nn.path = "ln_f.scale"},
      %lnf_b: tensor<48xbf16> {nn.role = "parameter", nn.path = "ln_f.shift"},
      %whead: tensor<96x48xbf16> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam, gradient = f32, master = f32>} {
    %tokens = nn.embedding "embedding"(%ids, %wte) : (tensor<16x8xi32>, tensor<96x48xbf16>) -> tensor<16x8x48xbf16>
    %x = nn.add "position"(%tokens, %wpe) : (tensor<16x8x48xbf16>, tensor<8x48xbf16>) -> tensor<16x8x48xbf16>

    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<16x8x48xbf16>)
        slice(%ln1_g_i = %ln1_g : tensor<4x48xbf16> to tensor<48xbf16>,
              %ln1_b_i = %ln1_b : tensor<4x48xbf16> to tensor<48xbf16>,
              %wqkv_i = %wqkv : tensor<4x144x48xbf16> to tensor<144x48xbf16>,
              %bqkv_i = %bqkv : tensor<4x144xbf16> to tensor<144xbf16>,
              %wproj_i = %wproj : tensor<4x48x48xbf16> to tensor<48x48xbf16>,
              %bproj_i = %bproj : tensor<4x48xbf16> to tensor<48xbf16>,
              %ln2_g_i = %ln2_g : tensor<4x48xbf16> to tensor<48xbf16>,
              %ln2_b_i = %ln2_b : tensor<4x48xbf16> to tensor<48xbf16>,
              %wfc1_i = %wfc1 : tensor<4x192x48xbf16> to tensor<192x48xbf16>,
              %bfc1_i = %bfc1 : tensor<4x192xbf16> to tensor<192xbf16>,
              %wfc2_i = %wfc2 : tensor<4x48x192xbf16> to tensor<48x192xbf16>,
              %bfc2_i = %bfc2 : tensor<4x48xbf16> to tensor<48xbf16>)
        -> (tensor<16x8x48xbf16>) {
      %n1 = nn.layer_norm "ln_1"(%h, %ln1_g_i, %ln1_b_i) : (tensor<16x8x48xbf16>, tensor<48xbf16>, tensor<48xbf16>) -> tensor<16x8x48xbf16>
      %qkv = nn.linear "attention.qkv"(%n1, %wqkv_i, %bqkv_i) : (tensor<16x8x48xbf16>, tensor<144x48xbf16>, tensor<144xbf16>) -> tensor<16x8x144xbf16>
      %q, %k, %v = nn.split "attention.split"(%qkv) {groups = 12 : i64} : (tensor<16x8x144xbf16>) -> (tensor<16x8x48xbf16>, tensor<16x8x48xbf16>, tensor<16x8x48xbf16>)
      %a, %lse = nn.attention "attention.core"(%q, %k, %v) {heads = 12 : i64, causal} : (tensor<16x8x48xbf16>, tensor<16x8x48xbf16>, tensor<16x8x48xbf16>) -> (tensor<16x8x48xbf16>, tensor<16x12x8xf32>)
      %p = nn.linear "attention.proj"(%a, %wproj_i, %bproj_i) : (tensor<16x8x48xbf16>, tensor<48x48xbf16>, tensor<48xbf16>) -> tensor<16x8x48xbf16>
      %r1 = nn.add "residual_1"(%h, %p) : (tensor<16x8x48xbf16>, tensor<16x8x48xbf16>) -> tensor<16x8x48xbf16>
      %n2 = nn.layer_norm "ln_2"(%r1, %ln2_g_i, %ln2_b_i) : (tensor<16x8x48xbf16>, tensor<48xbf16>, tensor<48xbf16>) -> tensor<16x8x48xbf16>
      %f1 = nn.linear "mlp.fc1"(%n2, %wfc1_i, %bfc1_i) : (tensor<16x8x48xbf16>, tensor<192x48xbf16>, tensor<192xbf16>) -> tensor<16x8x192xbf16>
      %g = nn.gelu "mlp.act"(%f1) : (tensor<16x8x192xbf16>) -> tensor<16x8x192xbf16>
      %f2 = nn.linear "mlp.fc2"(%g, %wfc2_i, %bfc2_i) : (tensor<16x8x192xbf16>, tensor<48x192xbf16>, tensor<48xbf16>) -> tensor<16x8x48xbf16>
      %r2 = nn.add "residual_2"(%r1, %f2) : (tensor<16x8x48xbf16>, tensor<16x8x48xbf16>) -> tensor<16x8x48xbf16>
      nn.yield %r2 : tensor<16x8x48xbf16>
    }

    %n = nn.layer_norm "ln_f"(%y, %lnf_g, %lnf_b) : (tensor<16x8x48xbf16>, tensor<48xbf16>, tensor<48xbf16>) -> tensor<16x8x48xbf16>
    %logits = nn.linear "head"(%n, %whead) : (tensor<16x8x48xbf16>, tensor<96x48xbf16>) -> tensor<16x8x96xbf16>
    %loss, %lse = nn.cross_entropy "loss"(%logits, %labels) : (tensor<16x8x96xbf16>, tensor<16x8xi32>) -> (tensor<f32>, tensor<16x8xf32>)
    return %loss : tensor<f32>
  }

  // Data parallelism.
  strategy.tree @data_parallel for @gpt2 {
    mesh [dp = 4]
    split op [batch -> dp]
  }

  // Gradients in many buckets, which start while the backward pass runs.
  strategy.tree @small_buckets for @gpt2 {
    mesh [dp = 4]
    bucket size = 20000 first = 1
    split op [batch -> dp]
  }

  // Tensor parallelism: by columns, then by rows; the vocabulary is split.
  strategy.tree @tensor_parallel for @gpt2 {
    mesh [dp = 2, tp = 4]
    split op [batch -> dp]
    node "embedding" { split op [vocab -> tp] }
    node "head" { split op [out -> tp] }
    node "layers[*]" {
      node "attention.qkv" { split op [out -> tp] }
      node "mlp.fc1" { split op [out -> tp] }
    }
  }

  // A pipeline whose stages recompute their layers.
  strategy.tree @pipeline for @gpt2 {
    mesh [pp = 2, dp = 2, tp = 2]
    schedule micro_batches = 4 order = "1f1b"
    split op [batch -> dp]
    node "layers[*]" {
      stages pp
      recompute
      node "attention.qkv" { split op [out -> tp] }
      node "mlp.fc1" { split op [out -> tp] }
    }
  }

  // Stages of different lengths, all forward passes first.
  strategy.tree @uneven_pipeline for @gpt2 {
    mesh [pp = 3, dp = 2]
    schedule micro_batches = 2 order = "gpipe" max_ongoing = 2
    split op [batch -> dp]
    node "layers[*]" { stages pp }
  }

  // Some layers are recomputed, others are not.
  strategy.tree @recomputation for @gpt2 {
    mesh [dp = 2]
    split op [batch -> dp]
    node "layers[1:3]" { recompute }
  }

  // Sharded optimizer state (ZeRO, stage 1).
  strategy.tree @sharded_state for @gpt2 {
    mesh [dp = 4]
    split op [batch -> dp]
    split state [0 -> dp]
  }

  // The same beside tensor parallelism, where conversions take several steps.
  strategy.tree @sharded_state_and_tensors for @gpt2 {
    mesh [tp = 2, dp = 4]
    split op [batch -> dp]
    split state [0 -> dp]
    node "layers[*]" {
      node "mlp.fc1" { split op [out -> tp] }
    }
  }

  // Sharded weights (ZeRO, stage 3).
  strategy.tree @sharded_weights for @gpt2 {
    mesh [dp = 4]
    split op [batch -> dp]
    split weight [0 -> dp]
  }

  // Activations are split along the sequence; keys and values are gathered.
  strategy.tree @sequence for @gpt2 {
    mesh [dp = 2, tp = 2]
    split op [batch -> dp, seq -> tp]
  }

  // Gradients accumulate over micro-batches.
  strategy.tree @micro_batches for @gpt2 {
    mesh [dp = 2]
    schedule micro_batches = 4
    split op [batch -> dp]
  }

  // Most of it at once, on parts that are not equal.
  strategy.tree @all_of_it for @gpt2 {
    mesh [pp = 4, tp = 3, dp = 2]
    schedule micro_batches = 1 order = "1f1b" max_ongoing = 2
    split op [batch -> dp]
    split weight [0 -> dp]
    node "embedding" { split op [seq -> tp] }
    node "head" { split op [in -> tp] }
    node "layers[*]" {
      stages pp
      recompute
      node "attention.qkv" { split op [out -> tp] }
      node "mlp.fc2" { split op [seq -> tp] }
    }
  }
}

//--- input.mlir

// The layers read an input of the model: the first of them computes less,
// and stands in a repeat of its own.

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @m(
      %x: tensor<32x16xf32> {nn.role = "input", nn.path = "x"},
      %t: tensor<32xi32> {nn.role = "input", nn.path = "labels"},
      %ws: tensor<4x16x16xf32> {nn.role = "parameter", nn.path = "layers[*].fc.weight"},
      %wh: tensor<64x16xf32> {nn.role = "parameter", nn.path = "head.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = adam>} {
    %y = nn.repeat "layers" count 4
        carry(%h = %x : tensor<32x16xf32>)
        slice(%w = %ws : tensor<4x16x16xf32> to tensor<16x16xf32>)
        -> (tensor<32x16xf32>) {
      %0 = nn.linear "fc"(%h, %w) : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      %1 = nn.relu "act"(%0) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      nn.yield %1 : tensor<32x16xf32>
    }
    %2 = nn.linear "head"(%y, %wh) : (tensor<32x16xf32>, tensor<64x16xf32>) -> tensor<32x64xf32>
    %loss, %lse = nn.cross_entropy "loss"(%2, %t) : (tensor<32x64xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    return %loss : tensor<f32>
  }

  strategy.tree @input_data_parallel for @m {
    mesh [dp = 2]
    split op [batch -> dp]
  }

  strategy.tree @input_sharded_state for @m {
    mesh [dp = 2]
    split op [batch -> dp]
    split state [0 -> dp]
  }

  strategy.tree @input_sharded_weights for @m {
    mesh [dp = 2]
    split op [batch -> dp]
    split weight [0 -> dp]
  }

  strategy.tree @input_pipeline for @m {
    mesh [pp = 2, dp = 2]
    schedule micro_batches = 4
    split op [batch -> dp]
    node "layers[*]" {
      stages pp
      recompute
    }
  }
}
