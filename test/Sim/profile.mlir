// Measured kernels come before models: the product is in the profile, a second one lies
// between two of its rows, a third is left to the model. Per device: 64 rows.

// RUN: printf 'op,dtype,pass,shape,time_us\nproduct,f32,forward,m=64 n=512 k=256,500\nproduct,f32,forward,m=64 n=128 k=512,100\nproduct,f32,forward,m=64 n=2048 k=512,100\n' > %t.csv
// RUN: proteus-opt %s --lower-strategy --simulate="overlap=off profile=%t.csv report=%t.json" --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s
// RUN: proteus-opt %s --lower-strategy --simulate="overlap=off report=%t-plain.json" -o /dev/null
// RUN: python3 %S/Inputs/check_sources.py %t.json %t-plain.json

// Two files are one profile; the one in JSON has the rest.
// RUN: echo '{"kernels": [{"op": "product", "dtype": "f32", "shape": {"m": 64, "n": 64, "k": 512}, "time_us": 42}]}' > %t-more.json
// RUN: proteus-opt %s --lower-strategy --simulate="profile=%t.csv,%t-more.json" --remarks-filter=proteus-simulate -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH

// RUN: printf 'op,dtype,pass,shape,time_us\nproduct,f32,forward,m=64 n=512,500\n' > %t-bad.csv
// RUN: not proteus-opt %s --lower-strategy --simulate="profile=%t-bad.csv" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: printf 'op,dtype,pass,shape,time_us,device\nnorm,f32,forward,bytes=8,1,K80\n' > %t-other.csv
// RUN: not proteus-opt %s --lower-strategy --simulate="profile=%t-other.csv" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not proteus-opt %s --lower-strategy --simulate="profile=%t-none.csv" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not proteus-opt %s --lower-strategy --simulate="fidelity=paper profile=%t.csv" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PAPER
// RUN: not proteus-opt %s --lower-strategy --simulate="stack-error=2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK-DAG: nn.linear |{{.*}} Path=fc1, TimeUs=500.000
// CHECK-DAG: nn.linear |{{.*}} Path=fc3
// BOTH-DAG: nn.linear |{{.*}} Path=fc1, TimeUs=500.000
// BOTH-DAG: nn.linear |{{.*}} Path=fc3, TimeUs=42.000
// BAD: bad.csv:2: the shape lacks 'k'
// OTHER: other.csv: no kernel of this profile was measured on 'A100-SXM4-80GB'
// NONE: can't read profile {{.*}}none.csv
// PAPER: fidelity=paper takes no profile
// ERROR: stack-error must be from 0 to 1, got 2

module attributes {proteus.cluster = "dgx-a100"} {
  func.func @layers(
      %x: tensor<512x256xf32> {nn.role = "input", nn.path = "x"},
      %y: tensor<512x64xf32> {nn.role = "input", nn.path = "y"},
      %w1: tensor<512x256xf32> {nn.role = "parameter", nn.path = "fc1.weight"},
      %w2: tensor<512x512xf32> {nn.role = "parameter", nn.path = "fc2.weight"},
      %w3: tensor<64x512xf32> {nn.role = "parameter", nn.path = "fc3.weight"})
      -> tensor<f32> attributes {nn.training = #nn.training<optimizer = sgd>} {
    %0 = nn.linear "fc1"(%x, %w1) : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x512xf32>
    %1 = nn.linear "fc2"(%0, %w2) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %2 = nn.linear "fc3"(%1, %w3) : (tensor<512x512xf32>, tensor<64x512xf32>) -> tensor<512x64xf32>
    %loss = nn.mse_loss "loss"(%2, %y) : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  strategy.tree @s for @layers {
    mesh [dp = 8]
    split op [batch -> dp]
  }
}
