// The settings of a step are printed without their defaults, and are verified.
//
// RUN: split-file %s %t
// RUN: proteus-opt %t/valid.mlir | proteus-opt | FileCheck %t/valid.mlir
// RUN: proteus-opt %t/valid.mlir --mlir-print-op-generic | proteus-opt | FileCheck %t/valid.mlir
// RUN: proteus-opt %t/invalid.mlir -split-input-file -verify-diagnostics

//--- valid.mlir
#mesh = #dist.mesh<[dp = 2]>
// CHECK: dist.program @defaults mesh #{{.*}} () {
dist.program @defaults mesh #mesh () {
  dist.return
}
// CHECK: dist.program @all mesh #{{.*}} () attributes {step = #dist.step<schedule = <order = "zero-bubble", max_ongoing = 4, virtual_stages = 2>, buckets = <size = 4096, first = 1024, per_layer = true, reduction = "after-backward", gather = 8192, by_operation = true, all_reduce = true>, overlap = <tensor = chunked, chunks = 4, messages = false>>} {
dist.program @all mesh #mesh () attributes {
  step = #dist.step<overlap = <messages = false, chunks = 4, tensor = chunked>,
                    schedule = <virtual_stages = 2, order = "zero-bubble", max_ongoing = 4>,
                    buckets = <size = 4096, first = 1024, per_layer = true, reduction = "after-backward", gather = 8192, by_operation = true, all_reduce = true>>} {
  dist.return
}
// CHECK: dist.program @orders mesh #{{.*}} () attributes {step = #dist.step<schedule = <orders = {{\[\[}}"F0", "B0"]]>>} {
dist.program @orders mesh #mesh () attributes {
  step = #dist.step<schedule = <order = "1f1b", orders = [["F0", "B0"]]>, overlap = <tensor = async>>} {
  dist.return
}

//--- invalid.mlir
// expected-error@+2 {{max_ongoing must be at least 1, got 0}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'schedule' which is to be a `::proteus::dist::ScheduleRequestAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<schedule = <max_ongoing = 0>>}

// -----

// expected-error@+2 {{orders lists "X0", which is no work item such as "F0"}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'schedule' which is to be a `::proteus::dist::ScheduleRequestAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<schedule = <orders = [["X0"]]>>}

// -----

// expected-error@+2 {{size must be at least 1, got 0}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'buckets' which is to be a `::proteus::dist::BucketingAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<buckets = <size = 0>>}

// -----

// expected-error@+2 {{reduction = "per-parameter" has no buckets; leave out size, first and per_layer}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'buckets' which is to be a `::proteus::dist::BucketingAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<buckets = <size = 8, reduction = "per-parameter">>}

// -----

// expected-error@+2 {{gather_per_parameter has no buckets; leave out gather}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'buckets' which is to be a `::proteus::dist::BucketingAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<buckets = <gather = 8, gather_per_parameter = true>>}

// -----

// expected-error@+2 {{chunks needs tensor = chunked, got tensor = async}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'overlap' which is to be a `::proteus::dist::OverlapAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<overlap = <chunks = 4>>}

// -----

// expected-error@+2 {{chunks must be at least 2, got 1}}
// expected-error@+1 {{failed to parse Dist_StepAttr parameter 'overlap' which is to be a `::proteus::dist::OverlapAttr`}}
func.func private @f() attributes {strategy.step = #dist.step<overlap = <tensor = chunked, chunks = 1>>}
