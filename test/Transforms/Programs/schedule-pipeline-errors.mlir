// RUN: proteus-opt %s -split-input-file -verify-diagnostics --schedule-pipeline
// RUN: not proteus-opt %S/Inputs/incomplete-schedule.mlir --schedule-pipeline 2>&1 | FileCheck %s
// RUN: python3 %root/test/Inputs/each_fails.py proteus-opt %s --schedule-pipeline

// Orders that a person has listed, in the settings of the programs or as a
// dist.schedule. Messages name the program and the item.

// CHECK: incomplete-schedule.mlir:9:1: error: 'dist.schedule' op order of @stage0: B1 is missing

// An item is missing.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s1: B1 is missing}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "B0", "F1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "B0", "F1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// An item is listed twice.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s0: F0 is listed twice}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "F0", "B0", "B1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "F0", "B0", "B1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// A gradient without its forward.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s1: B1 comes before F1}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "B1", "F1", "B0"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "B1", "F1", "B0"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// A micro-batch that the mesh does not have.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s0: F2 is outside the 2 micro-batches of the mesh}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "F2", "B0", "B1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "F2", "B0", "B1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// A chunk that the stage does not have.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s1: F0.1 names the 'forward' section of chunk 1, which the program does not have}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "F0.1", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "F0.1", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// An item that is dropped, because the gradients of the program are not split,
// stands where it can't,
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.program' op order: W0 comes before I0}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "W0", "I0", "I1", "W1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "W0", "I0", "I1", "W1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// or twice.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.program' op order: W0 is listed twice}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "W0", "W0", "I1", "W1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "W0", "W0", "I1", "W1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// A backward that is not split takes the place of its input gradient, once.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s0: B0 is listed twice}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "B0", "I1", "W1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "I0", "B0", "I1", "W1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// A split backward has no whole one besides.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s1: B1 names the 'backward' section of chunk 0, which the program does not have}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "I0", "W0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "I0", "W0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.return
}

// -----

// A model that is not trained has no gradients at all.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s0: B0 names the 'backward' section of chunk 0, which the program does not have}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "F1"]]>>} {
  dist.section forward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "F1"]]>>} {
  dist.section forward { dist.yield }
  dist.return
}

// -----

// A weight gradient before its input gradient.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.schedule' op order of @s1: W0 comes before I0}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "W0", "I0", "F1", "I1", "W1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <orders = [["F0", "F1", "B0", "B1"], ["F0", "W0", "I0", "F1", "I1", "W1"]]>>} {
  dist.section forward { dist.yield }
  dist.section input_gradient { dist.yield }
  dist.section weight_gradient { dist.yield }
  dist.return
}

// -----

// More in flight than the limit.
#mesh = #dist.mesh<[pp = 2], micro = 2>
// expected-error@+1 {{'dist.program' op order of stage 0 has 2 micro-batches in flight, first with F1, more than max_ongoing = 1}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <max_ongoing = 1, orders = [["F0", "F1", "B0", "B1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {nn.training = #nn.training<optimizer = sgd>, step = #dist.step<schedule = <max_ongoing = 1, orders = [["F0", "F1", "B0", "B1"], ["F0", "B0", "F1", "B1"]]>>} {
  dist.section forward { dist.yield }
  dist.section backward { dist.yield }
  dist.return
}

// -----

// Fewer orders than stages.
#mesh = #dist.mesh<[pp = 2], micro = 2>
dist.program @s0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <orders = [["F0", "F1"]]>>} {
  dist.section forward { dist.yield }
  dist.return
}
// expected-error@+1 {{'dist.program' op is stage 1, but its step lists the orders of 1 stages}}
dist.program @s1 mesh #mesh at [pp = 1] () attributes {step = #dist.step<schedule = <orders = [["F0", "F1"]]>>} {
  dist.section forward { dist.yield }
  dist.return
}

// -----

// A built-in order that does not fit the pipeline.
#mesh = #dist.mesh<[pp = 1], micro = 3>
// expected-error@+1 {{'dist.program' op order "zero-bubble" does not fit: it has one chunk per stage, not 2}}
dist.program @s0 mesh #mesh at [pp = 0] () attributes {step = #dist.step<schedule = <order = "zero-bubble", virtual_stages = 2>>} {
  dist.section forward { dist.yield }
  dist.section forward chunk 1 { dist.yield }
  dist.return
}
