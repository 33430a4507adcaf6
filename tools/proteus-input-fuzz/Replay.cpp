//===- Replay.cpp - readers with the files of the corpus ------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   proteus-input-replay CORPUS [TARGET=FOLDER]...
//
// Reads each file of CORPUS/<target> with that target, and then the files of
// further folders. A reader that crashes, takes too long or returns an
// inconsistent value ends the process; the last line then names the file. Needs
// no libFuzzer, so that every build can run it.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "Proteus/Support/File.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace llvm;
using namespace proteus;

/// Most memory, in MiB, that the process may take while it reads one file.
#if LLVM_ADDRESS_SANITIZER_BUILD
static constexpr long mostMebibytes = 2048;
#else
static constexpr long mostMebibytes = 512;
#endif

static int fail(const Twine &message) {
  errs() << "proteus-input-replay: " << message << "\n";
  return 1;
}

/// Returns the files of a folder, sorted.
static std::vector<std::string> filesOf(const Twine &folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    if (sys::fs::is_regular_file(it->path()))
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the largest memory that the process had so far, in MiB.
static long mebibytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// Reads all files of `folder` with `target`. Returns the exit code.
static int replay(const fuzz::Target &target, const Twine &folder) {
  std::vector<std::string> files = filesOf(folder);
  if (files.empty())
    return fail("no files in " + folder);
  for (const std::string &path : files) {
    errs() << target.name << " " << path << "\n";
    Expected<std::string> text = readInput(path);
    if (!text)
      return fail(toString(text.takeError()));
    fuzz::readInTime(target, *text);
    if (mebibytes() > mostMebibytes)
      return fail("the process has " + Twine(mebibytes()) + " MiB, at most " +
                  Twine(mostMebibytes) + " are allowed");
  }
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  if (argc < 2)
    return fail("usage: proteus-input-replay CORPUS [TARGET=FOLDER]...");
  for (const fuzz::Target &target : fuzz::allTargets())
    if (int code = replay(target, Twine(argv[1]) + "/" + target.name))
      return code;
  for (StringRef further : ArrayRef(argv, argc).drop_front(2)) {
    auto [name, folder] = further.split('=');
    const fuzz::Target *target = fuzz::findTarget(name);
    if (!target)
      return fail("unknown target '" + name + "'");
    if (int code = replay(*target, folder))
      return code;
  }
  return 0;
}
