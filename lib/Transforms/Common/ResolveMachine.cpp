//===- ResolveMachine.cpp - cluster, stack and site of a module -----------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Transforms/Common/ResolveMachine.h"

#include "Proteus/Dialect/Proteus/Proteus.h"
#include "Proteus/Support/File.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace proteus;

/// Prints an attribute as JSON text, so that the parser of JSON files can also
/// parse dictionaries in a module. Fails if the attribute has no equivalent in
/// JSON.
static LogicalResult printAsJSON(Attribute attribute, llvm::raw_ostream &os) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    os << "{";
    bool first = true;
    for (NamedAttribute entry : dictionary) {
      os << (first ? "" : ", ") << "\"" << entry.getName().getValue() << "\": ";
      first = false;
      if (failed(printAsJSON(entry.getValue(), os)))
        return failure();
    }
    os << "}";
    return success();
  }
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    os << "[";
    for (auto [i, entry] : llvm::enumerate(array)) {
      os << (i ? ", " : "");
      if (failed(printAsJSON(entry, os)))
        return failure();
    }
    os << "]";
    return success();
  }
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    os << "\"";
    llvm::printEscapedString(text.getValue(), os);
    os << "\"";
    return success();
  }
  if (auto boolean = dyn_cast<BoolAttr>(attribute)) {
    os << (boolean.getValue() ? "true" : "false");
    return success();
  }
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    os << integer.getInt();
    return success();
  }
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    os << llvm::format("%.17g", number.getValueAsDouble());
    return success();
  }
  return failure();
}

/// Returns the path of the file that contains `module`, or an empty string if
/// it is not known.
static StringRef fileOf(ModuleOp module) {
  if (auto location = dyn_cast<FileLineColLoc>(module.getLoc()))
    return location.getFilename().getValue();
  return "";
}

/// Returns `name` as a path. A relative path starts at the directory of `file`,
/// unless `file` is empty or standard input.
static SmallString<128> resolvePath(StringRef file, StringRef name) {
  SmallString<128> path(name);
  if (llvm::sys::path::is_relative(path) && !file.empty() && file != "-") {
    path = llvm::sys::path::parent_path(file);
    llvm::sys::path::append(path, name);
  }
  return path;
}

static llvm::Expected<machine::Cluster> readCluster(ModuleOp module,
                                                    Attribute attribute) {
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (failed(printAsJSON(dictionary, os)))
      return llvm::createStringError(
          "an inline cluster may hold dictionaries, arrays, strings, numbers "
          "and booleans only");
    return machine::parseClusterJSON(
        text, "proteus.cluster", [&](StringRef name) {
          return readTextFile(resolvePath(fileOf(module), name));
        });
  }
  StringRef text = cast<StringAttr>(attribute).getValue();
  machine::ClusterName name = machine::splitClusterName(text);
  if (!name.isFile())
    return machine::parseClusterPreset(text);
  SmallString<128> path = resolvePath(fileOf(module), name.base);
  llvm::Expected<std::string> contents = readTextFile(path);
  if (!contents)
    return llvm::createStringError(
        "can't read the cluster file '" + path +
        "': " + llvm::toString(contents.takeError()));
  llvm::Expected<machine::Cluster> cluster =
      machine::parseClusterJSON(*contents, path, [&](StringRef other) {
        return readTextFile(resolvePath(path, other));
      });
  if (cluster)
    if (llvm::Error error = machine::setNodes(*cluster, name))
      return std::move(error);
  return cluster;
}

void proteus::writeMachineOptions(ModuleOp module, StringRef cluster,
                                  StringRef stack, StringRef site) {
  for (auto [name, value] :
       {std::pair(ProteusDialect::clusterAttrName, cluster),
        std::pair(ProteusDialect::stackAttrName, stack),
        std::pair(ProteusDialect::siteAttrName, site)})
    if (!value.empty())
      module->setAttr(name, StringAttr::get(module.getContext(), value));
}

FailureOr<machine::Cluster> proteus::resolveCluster(ModuleOp module) {
  Attribute attribute = module->getAttr(ProteusDialect::clusterAttrName);
  if (!attribute) {
    std::string presets;
    for (const std::string &name : machine::clusterPresetNames())
      presets += (presets.empty() ? "" : ", ") + name;
    return emitError(module.getLoc(),
                     "no cluster is given; set the module attribute ")
           << ProteusDialect::clusterAttrName
           << " or the option cluster= to a preset (" << presets
           << ", with \":n\" for n nodes) or a JSON file";
  }
  llvm::Expected<machine::Cluster> cluster = readCluster(module, attribute);
  if (!cluster)
    return emitError(module.getLoc(), llvm::toString(cluster.takeError()));
  return *cluster;
}

/// Returns the stack or the site that an attribute of `module` describes. The
/// attribute is a name, the path of a file, JSON text or a dictionary. Without
/// the attribute, returns a default-constructed `T`.
template <typename T>
static FailureOr<T> resolveNamed(ModuleOp module, StringRef attributeName,
                                 llvm::Expected<T> (*parsePreset)(StringRef),
                                 llvm::Expected<T> (*parseJSON)(StringRef,
                                                                StringRef)) {
  Attribute attribute = module->getAttr(attributeName);
  if (!attribute)
    return T();
  auto read = [&]() -> llvm::Expected<T> {
    if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
      std::string text;
      llvm::raw_string_ostream os(text);
      if (failed(printAsJSON(dictionary, os)))
        return llvm::createStringError(
            attributeName + " may hold dictionaries, arrays, strings, numbers "
                            "and booleans only");
      return parseJSON(text, attributeName);
    }
    StringRef name = cast<StringAttr>(attribute).getValue();
    if (name.starts_with("{"))
      return parseJSON(name, attributeName);
    if (!name.ends_with(".json"))
      return parsePreset(name);
    SmallString<128> path = resolvePath(fileOf(module), name);
    llvm::Expected<std::string> text = readTextFile(path);
    if (!text)
      return llvm::createStringError("can't read the file '" + path + "' of " +
                                     attributeName + ": " +
                                     llvm::toString(text.takeError()));
    return parseJSON(*text, path);
  };
  llvm::Expected<T> result = read();
  if (!result)
    return emitError(module.getLoc(), llvm::toString(result.takeError()));
  return *result;
}

FailureOr<machine::Stack> proteus::resolveStack(ModuleOp module) {
  return resolveNamed<machine::Stack>(module, ProteusDialect::stackAttrName,
                                      machine::parseStackPreset,
                                      machine::parseStackJSON);
}

FailureOr<machine::Site> proteus::resolveSite(ModuleOp module) {
  return resolveNamed<machine::Site>(module, ProteusDialect::siteAttrName,
                                     machine::parseSitePreset,
                                     machine::parseSiteJSON);
}
