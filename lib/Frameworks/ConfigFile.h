//===- ConfigFile.h - keys of a configuration file -------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_LIB_FRAMEWORKS_CONFIGFILE_H
#define PROTEUS_LIB_FRAMEWORKS_CONFIGFILE_H

#include "Notes.h"

#include "Proteus/Jobs/Job.h"
#include "Proteus/Support/JSON.h"

namespace proteus::frameworks {

/// The keys of a configuration file by path, such as
/// "zero_optimization.stage". A key is absent if the file does not contain it,
/// or if its value is null or "auto". A read of a wrong value records an error
/// in the document, and returns nullopt or a default.
class ConfigFile {
public:
  /// Checks all keys of `document`. Adds keys that are not used to `notes`.
  /// Fails if keys are unknown or refused, or if values have wrong types.
  static llvm::Expected<ConfigFile> read(const Framework &framework,
                                         json::Document document, Notes &notes);

  bool has(llvm::StringRef path) const { return find(path).has_value(); }
  /// Returns true if the file leaves the value of `path` to "auto".
  bool isAuto(llvm::StringRef path) const;
  std::optional<int64_t> integer(llvm::StringRef path, int64_t min,
                                 int64_t max) const;
  /// Returns the flag, or `otherwise` if it is absent.
  bool flag(llvm::StringRef path, bool otherwise) const;
  std::optional<std::string> text(llvm::StringRef path) const;
  /// Returns a text that is one of `allowed`.
  std::optional<std::string>
  word(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> allowed) const;
  /// Returns the texts of a list; empty if the key is absent.
  std::vector<std::string> list(llvm::StringRef path) const;
  /// Returns the value as JSON text.
  std::string shown(llvm::StringRef path) const;

  /// Records the error `message` at the place of `path`, unless there is one.
  void fail(llvm::StringRef path, const llvm::Twine &message) const;
  /// Returns the first error.
  llvm::Error takeError() const { return document.takeError(); }

private:
  explicit ConfigFile(json::Document document)
      : document(std::move(document)) {}
  /// Returns the value of `path`, also null or "auto".
  std::optional<json::Reader> lookUp(llvm::StringRef path) const;
  /// Returns the value of `path`, unless it is absent.
  std::optional<json::Reader> find(llvm::StringRef path) const;

  json::Document document;
};

/// Reads a file of `framework` into `job` by a `Reader`, which has a
/// constructor from the file, the notes and the job, and a function `read`.
/// Returns remarks about settings.
template <typename Reader>
llvm::Expected<std::vector<std::string>>
readConfig(const Framework &framework, llvm::Expected<json::Document> document,
           jobs::Job &job) {
  if (!document)
    return document.takeError();
  Notes notes(framework);
  llvm::Expected<ConfigFile> file =
      ConfigFile::read(framework, std::move(*document), notes);
  if (!file)
    return file.takeError();
  Reader(*file, notes, job).read();
  if (llvm::Error error = file->takeError())
    return std::move(error);
  return notes.remarks();
}

} // namespace proteus::frameworks

#endif // PROTEUS_LIB_FRAMEWORKS_CONFIGFILE_H
