//===- ReferenceJobs.cpp - examples of the reference as trees -------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Parity/Parity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace llvm;
using namespace proteus::parity;

namespace {

/// Writes the body of the strategy tree of a run.
class TreeWriter {
public:
  TreeWriter(const ReferenceRun &run) : run(run), strategy(run.strategy) {}

  Expected<std::string> write();

private:
  void line(const Twine &text) { tree += ("  " + text + "\n").str(); }
  /// Writes a node with `settings` for the operations that `pattern` selects.
  void node(const Twine &pattern, const Twine &settings) {
    line("node \"" + pattern + "\" { " + settings + " }");
  }
  void mesh(int64_t pp, int64_t dp, int64_t tp);
  void schedule();
  void buckets();
  std::string storage(StringRef split = "0", bool tensor = false) const;
  Error transformer();
  Error imageNet();
  void splitClassifier();
  Error recommender();

  const ReferenceRun &run;
  const ReferenceStrategy &strategy;
  std::string tree;
};

} // namespace

/// Writes the mesh with the axes pp, dp and tp in this order, because the
/// reference numbers devices stage by stage, and within a stage replica by
/// replica.
void TreeWriter::mesh(int64_t pp, int64_t dp, int64_t tp) {
  SmallVector<std::string> axes;
  for (auto [name, size] : {std::pair("pp", pp), {"dp", dp}, {"tp", tp}})
    if (size > 1)
      axes.push_back(std::string(name) + " = " + std::to_string(size));
  if (axes.empty())
    axes.push_back("dp = 1");
  line("mesh [" + join(axes, ", ") + "]");
}

void TreeWriter::schedule() {
  if (strategy.microBatches > 1 || strategy.pp > 1 || strategy.kind == "pp")
    line("schedule micro_batches = " + Twine(strategy.microBatches) +
         " order = \"1f1b\"");
}

/// Writes the settings of buckets. The reference closes a bucket when the
/// bucket exceeds its size. This simulator closes a bucket when it reaches its
/// size, so the size in the setting is one byte larger. Four settings imitate
/// the reference:
///
/// - `by_operation`: all gradients of one operation are ready together.
/// - `gather`: all updated parameters are gathered in one collective.
/// - `gather_per_parameter`: ZeRO-3 gathers each parameter by itself.
/// - `all_reduce`: ZeRO-1 all-reduces whole gradients.
void TreeWriter::buckets() {
  auto bytes = [](double megabytes) {
    return static_cast<int64_t>(megabytes * 1e6) + 1;
  };
  std::string text =
      "bucket size = " + std::to_string(bytes(strategy.bucketMegabytes));
  if (strategy.smallFirstBucket)
    text += " first = " + std::to_string(bytes(1));
  if (strategy.zero == 3)
    text += " gather_per_parameter";
  else
    text += " gather = " + std::to_string(std::numeric_limits<int64_t>::max());
  text += " by_operation";
  if (strategy.zero == 1)
    text += " all_reduce";
  line(text);
}

/// Returns the settings with which ZeRO shards the states and, at stage 3, the
/// weights of an operation along `split`, an iterator or the number of a
/// dimension. If `tensor` is true, tensor parallelism shards them along `split`
/// too. Gradients need no setting at any stage: they are reduced to shards
/// once, after the last micro-batch.
std::string TreeWriter::storage(StringRef split, bool tensor) const {
  if (strategy.zero == 0 || strategy.dp == 1)
    return "";
  std::string axes = tensor && strategy.tp > 1 ? "[tp, dp]" : "dp";
  std::string part = (" [" + split + " -> " + axes + "]").str();
  std::string text = " split state" + part;
  if (strategy.zero == 3)
    text += " split weight" + part;
  return text;
}

Error TreeWriter::transformer() {
  mesh(strategy.pp, strategy.dp, strategy.tp);
  schedule();
  buckets();
  if (strategy.dp > 1 || (strategy.tp == 1 && strategy.pp == 1))
    line("split op [batch -> dp]");
  bool tp = strategy.tp > 1;
  auto split = [&](StringRef iterator) -> std::string {
    return tp ? ("split op [" + iterator + " -> tp]").str() : "";
  };
  bool any = tp || strategy.zero > 0;
  // With kind "pp", ZeRO does not shard the embeddings, because the head shares
  // the table of the token embedding.
  bool whole = strategy.kind == "pp";
  if (any) {
    node("embedding.tokens",
         split("vocab") + (whole ? "" : storage("vocab", true)));
    node("embedding.positions", whole ? "" : storage());
  }
  line("node \"layers[*]\" {");
  if (strategy.pp > 1)
    line("  stages pp");
  if (strategy.recompute)
    line("  recompute");
  if (any) {
    node("ln_1", storage());
    node("ln_2", storage());
    node("attention.qkv", split("out") + storage("out", true));
    // ZeRO shards row-split linears along their input dimension: weights and
    // states at stage 3, only states at stages 1 and 2. Their biases do not
    // have this dimension and stay whole.
    node("attention.proj", storage("in", true));
    node("mlp.fc1", split("out") + storage("out", true));
    node("mlp.fc2", storage("in", true));
  }
  line("}");
  if (tp)
    node("head", split("out"));
  return Error::success();
}

/// Writes the splits of the linears of a convolutional network over all
/// devices. Of a pair, the first linear is split by columns and the second by
/// rows; a single linear is split by columns. As in the reference, a pair keeps
/// its gathered input for the backward pass (`split input 0`), and a single
/// linear gathers its input again.
void TreeWriter::splitClassifier() {
  auto pair = [&](StringRef columns, ArrayRef<StringRef> between,
                  StringRef rows) {
    node("classifier." + columns, "split op [batch -> [], out -> dp] "
                                  "split input 0 [batch -> []]");
    for (StringRef name : between)
      node("classifier." + name, "split op [batch -> []]");
    node("classifier." + rows,
         "split op [batch -> [], in -> dp] split output [batch -> dp]");
  };
  if (run.model == "alexnet")
    pair("fc6", {"act6", "drop7"}, "fc7");
  else if (run.model == "vgg19")
    pair("fc1", {"act1", "drop1"}, "fc2");
  else
    node("fc", "split op [batch -> [], out -> dp] "
               "split output [batch -> [], out -> []] "
               "split output_gradient [batch -> [], out -> []]");
}

Error TreeWriter::imageNet() {
  bool pipeline = strategy.kind == "pp";
  int64_t stages = pipeline ? 2 : 1;
  if (run.devices % stages != 0)
    return createStringError("two stages need an even number of devices, got " +
                             Twine(run.devices));
  mesh(stages, run.devices / stages, 1);
  schedule();
  buckets();
  line("split op [batch -> dp]");
  if (strategy.kind == "manual" && run.devices > 1)
    splitClassifier();
  if (pipeline) {
    node("features", "at [pp = 0]");
    for (StringRef second :
         {"pool", "flatten", "flatten_copy", "classifier", "loss"})
      node(second, "at [pp = 1]");
  }
  return Error::success();
}

Error TreeWriter::recommender() {
  mesh(1, run.devices, 1);
  buckets();
  line("split op [batch -> dp]");
  auto found = run.dims.find("tables");
  int64_t tables = 0;
  if (strategy.kind != "mp" || run.devices == 1)
    return Error::success();
  if (found == run.dims.end() ||
      StringRef(found->second).getAsInteger(10, tables))
    return createStringError("the dimension 'tables' is missing");
  for (int64_t i = 0; i < tables; ++i)
    node("tables[" + Twine(i) + "]",
         "at [dp = " + Twine(i % run.devices) + "]");
  return Error::success();
}

Expected<std::string> TreeWriter::write() {
  auto isOneOf = [&](std::initializer_list<StringRef> kinds) {
    return is_contained(kinds, strategy.kind);
  };
  bool known = run.isTransformer()   ? isOneOf({"dp", "megatron", "pp"})
               : run.model == "dlrm" ? isOneOf({"dp", "mp"})
               : run.model == "alexnet" || run.model == "vgg19"
                   ? isOneOf({"dp", "manual", "pp"})
                   : isOneOf({"dp", "manual"});
  if (!known)
    return createStringError("the reference has no strategy '" + strategy.kind +
                             "' for '" + run.model + "'");
  Error error = run.isTransformer()   ? transformer()
                : run.model == "dlrm" ? recommender()
                                      : imageNet();
  if (error)
    return std::move(error);
  return std::move(tree);
}

/// Returns the dimensions of a run as overrides of the model of this simulator.
static std::vector<std::string> overridesOf(const ReferenceRun &run) {
  std::vector<std::string> overrides;
  const ReferenceStrategy &strategy = run.strategy;
  auto add = [&](StringRef name, StringRef ours) {
    auto found = run.dims.find(name.str());
    if (found != run.dims.end())
      overrides.push_back((ours + "=" + found->second).str());
  };
  if (run.isTransformer()) {
    for (StringRef name : {"layers", "seq", "hidden", "heads"})
      add(name, name);
    add("vocab_padded", "vocab");
    if (strategy.seqFirst)
      overrides.push_back("seq_first=true");
  } else if (run.model == "dlrm") {
    add("tables", "tables");
    add("rows", "rows");
  } else {
    add("classes", "classes");
  }
  if (run.model == "resnet50" || run.model == "inception_v3")
    overrides.push_back("norm_groups=" +
                        std::to_string(run.devices * strategy.microBatches));
  return overrides;
}

Expected<ReferenceJob> proteus::parity::jobOf(const ReferenceRun &run) {
  ReferenceJob job;
  job.model = StringSwitch<std::string>(run.model)
                  .Cases({"gpt-2", "gpt"}, "gpt2-reference")
                  .Case("gpt-1.5b", "gpt1.5b-reference")
                  .Default(run.model + "-reference");
  job.overrides = overridesOf(run);
  job.batch = run.batch * run.strategy.microBatches;
  job.optimizer = run.optimizer;
  const ReferenceStrategy &s = run.strategy;
  if (run.isTransformer() && s.dp * s.tp * s.pp != run.devices)
    return createStringError("dp * tp * pp = " + Twine(s.dp * s.tp * s.pp) +
                             " is not the number of devices, " +
                             Twine(run.devices));
  Expected<std::string> tree = TreeWriter(run).write();
  if (!tree)
    return tree.takeError();
  job.tree = std::move(*tree);
  return job;
}
