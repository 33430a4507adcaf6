//===- ReferenceRuns.cpp - recorded runs of the reference -----------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Reference/Parity/Parity.h"
#include "Proteus/Support/JSON.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace proteus;
using namespace proteus::parity;
using json::Reader;

namespace {
struct EmbeddedFile {
  StringRef name, text;
};
} // namespace

/// Returns the files that are embedded in the tool: runs.json and the
/// topologies of its clusters.
static ArrayRef<EmbeddedFile> embeddedFiles() {
  static const EmbeddedFile files[] = {
#include "ReferenceRunFiles.inc"
  };
  return files;
}

static std::optional<StringRef> findEmbedded(StringRef name) {
  for (const EmbeddedFile &file : embeddedFiles())
    if (file.name == name)
      return file.text;
  return std::nullopt;
}

StringRef proteus::parity::embeddedReferenceRuns() {
  return *findEmbedded("runs");
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// Returns the name of the embedded topology for a cluster folder of the
/// reference.
static std::string topologyOf(StringRef folder) {
  return folder == "1080_1ib" ? "gtx1080_1ib" : folder.str();
}

/// Adds the cluster with the given name to `result`. "titanxp/n1_g8" is one
/// node with the devices and links of the folder "titanxp". A run on one node
/// may use fewer GPUs than the node has; the others are idle.
static void readCluster(StringRef name, const Reader &where,
                        const Reader &folders, ReferenceRuns &result) {
  auto [folder, size] = name.split('/');
  auto [nodeText, gpuText] = size.split('_');
  int64_t nodes, gpus;
  if (!nodeText.consume_front("n") || nodeText.getAsInteger(10, nodes) ||
      !gpuText.consume_front("g") || gpuText.getAsInteger(10, gpus) ||
      nodes < 1 || nodes > machine::maxNodes || gpus < 1)
    return where.fail("expected a cluster as FOLDER/n<nodes>_g<gpus>, got '" +
                      name + "'");
  std::optional<StringRef> topology = findEmbedded(topologyOf(folder));
  if (!topology)
    return where.fail("the topology of '" + folder +
                      "' is not known; known are those of titanxp, 1080_1ib, "
                      "dgx1_v100_1ib and dgx1_v100_2ib");
  // All files of a folder describe the same device, so read the first.
  auto sizes = folders[folder].members();
  if (sizes.empty())
    return where.fail("there is no cluster in '" + folder + "'");
  std::string text =
      "{\"n_node\": " + std::to_string(nodes) + ", \"topology\": \"node.xml\"";
  bool hasGPUs = false;
  for (auto &[key, value] : sizes.front().second.members())
    if (key == "n_gpu_per_node")
      hasGPUs = true;
    else if (key != "n_node")
      text += ", " + json::quote(key) + ": " + value.text();
  if (!hasGPUs)
    return where.fail("the cluster '" + folder + "' lacks 'n_gpu_per_node'");
  Expected<machine::NodeGraph> graph =
      machine::parseTopologyXML(*topology, topologyOf(folder));
  if (!graph)
    return where.fail(toString(graph.takeError()));
  if (graph->numDevices() < gpus || (nodes > 1 && graph->numDevices() != gpus))
    return where.fail("nodes of '" + folder + "' have " +
                      Twine(graph->numDevices()) + " GPUs, not " + Twine(gpus));
  text += ", \"n_gpu_per_node\": " + std::to_string(graph->numDevices()) + "}";
  Expected<machine::Cluster> cluster = machine::parseClusterJSON(
      text, folder,
      [&](StringRef) -> Expected<std::string> { return topology->str(); });
  if (!cluster)
    return where.fail(toString(cluster.takeError()));
  cluster->name = name.str();
  result.clusters.try_emplace(name.str(), std::move(*cluster));
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Bounds of the values in a file of runs. Larger values are mistakes.
static constexpr int64_t maxCount = 1'000'000'000, maxDegree = 1'000'000;
static constexpr double maxFigure = 1e15;
/// Largest size of a bucket, in 1e6 bytes. A plan has no larger buckets.
static constexpr double maxBucket = 1e6;

static ReferenceStrategy readStrategy(const Reader &reader) {
  ReferenceStrategy strategy;
  strategy.kind = reader["kind"].nonEmptyString();
  auto count = [&](StringRef key, int64_t &target, int64_t min) {
    if (reader.has(key) && !reader[key].isNull())
      target = reader[key].integer(min, maxDegree);
  };
  auto flag = [&](StringRef key, bool &target) {
    if (reader.has(key) && !reader[key].isNull())
      target = reader[key].boolean();
  };
  count("dp", strategy.dp, 1);
  count("tp", strategy.tp, 1);
  count("pp", strategy.pp, 1);
  count("zero", strategy.zero, 0);
  count("micro_batches", strategy.microBatches, 1);
  flag("recompute", strategy.recompute);
  flag("seq_first", strategy.seqFirst);
  flag("collectives", strategy.collectives);
  flag("gradient_overlap_first_bucket", strategy.smallFirstBucket);
  if (reader.has("bucket_1e6B"))
    strategy.bucketMegabytes = reader["bucket_1e6B"].positive(maxBucket);
  return strategy;
}

static std::optional<double> readOptional(const Reader &reader, StringRef key) {
  if (!reader.has(key) || reader[key].isNull())
    return std::nullopt;
  return reader[key].nonNegative(maxFigure);
}

static std::optional<ParityFigures> readFigures(const Reader &reader) {
  constexpr StringLiteral compute = "sum_op_cost_busiest_dev_ms_incl_optimizer";
  std::optional<double> kernels = readOptional(reader, compute);
  if (!kernels || !reader.has("tasks_live"))
    return std::nullopt;
  ParityFigures figures;
  figures.computeMilliseconds = *kernels;
  figures.iterationMilliseconds = readOptional(reader, "iter_ms");
  figures.memoryMiB = readOptional(reader, "max_mem_MiB");
  figures.cpuSeconds = readOptional(reader, "compile_cpu_s").value_or(0) +
                       readOptional(reader, "simulate_cpu_s").value_or(0);
  for (auto &[kind, sum] : reader["tasks_live"]["comm"].members())
    figures.collectives[kind] = {sum["n"].integer(0, maxCount),
                                 sum["volume_MB_total"].nonNegative(maxFigure)};
  return figures;
}

static ReferenceRun readRun(const Reader &reader) {
  ReferenceRun run;
  run.id = reader["id"].nonEmptyString();
  if (reader.has("set"))
    run.set = reader["set"].string();
  run.cluster = reader["cluster"].nonEmptyString();
  run.model = reader["model"].nonEmptyString();
  run.devices = reader["ndev"].integer(1, maxDegree);
  for (auto &[name, value] : reader["dims"].members())
    run.dims[name] = value.isString() ? value.string() : value.text();
  run.strategy = readStrategy(reader["strategy"]);
  run.batch = reader["batch_per_micro_batch_all_devices"].integer(1, maxCount);
  run.optimizer = reader["optimizer"].nonEmptyString();
  run.overlapFactor = readOptional(reader, "overlap_factor").value_or(0);
  auto flag = [&](StringRef key, bool otherwise) {
    bool isGiven = reader.has(key) && !reader[key].isNull();
    return isGiven ? reader[key].boolean() : otherwise;
  };
  run.shareBandwidth = flag("share_bandwidth", true);
  run.megatron = flag("megatron_flag", false);
  run.original = readFigures(reader);
  return run;
}

Expected<ReferenceRuns> proteus::parity::readReferenceRuns(StringRef text,
                                                           StringRef source) {
  Expected<json::Document> document = json::Document::parse(text, source);
  if (!document)
    return document.takeError();
  ReferenceRuns result;
  for (const Reader &reader : document->root()["runs"].elements()) {
    result.runs.push_back(readRun(reader));
    const std::string &cluster = result.runs.back().cluster;
    if (result.clusters.count(cluster) == 0)
      readCluster(cluster, reader["cluster"], document->root()["clusters"],
                  result);
    // Report the first error only.
    if (Error error = document->takeError())
      return std::move(error);
  }
  if (Error error = document->takeError())
    return std::move(error);
  return std::move(result);
}
