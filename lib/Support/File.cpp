//===- File.cpp - reading and atomic writing of files ---------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/File.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

Expected<std::string> proteus::readTextFile(StringRef path,
                                            size_t maxMebibytes) {
  // On some systems, a directory can be opened like a file, and only the read
  // below fails.
  Expected<sys::fs::file_t> file =
      sys::fs::openNativeFileForRead(path, sys::fs::OF_Text);
  if (!file)
    return createStringError(toString(file.takeError()));
  scope_exit close([&] { sys::fs::closeFile(*file); });
  std::string text;
  const size_t most = maxMebibytes << 20;
  constexpr size_t step = 1 << 16;
  while (true) {
    size_t size = text.size();
    if (size > most)
      return createStringError("it is larger than " + Twine(maxMebibytes) +
                               " MiB, the limit for such a file");
    text.resize(size + step);
    Expected<size_t> read = sys::fs::readNativeFile(
        *file, MutableArrayRef<char>(text.data() + size, step));
    if (!read)
      return createStringError(toString(read.takeError()));
    text.resize(size + *read);
    if (*read == 0)
      return text;
  }
}

Expected<std::string> proteus::readInput(StringRef path, size_t maxMebibytes) {
  Expected<std::string> text = readTextFile(path, maxMebibytes);
  if (!text)
    return createStringError("can't read '" + path +
                             "': " + toString(text.takeError()));
  return text;
}

/// Returns the absolute path of a file without symbolic links. If the file does
/// not exist, resolves the links of its directory. If the directory does not
/// exist either, returns `path`.
static SmallString<256> realPath(StringRef path) {
  SmallString<256> real;
  if (!sys::fs::real_path(path, real))
    return real;
  StringRef directory = sys::path::parent_path(path);
  if (sys::fs::real_path(directory.empty() ? "." : directory, real))
    return path;
  sys::path::append(real, sys::path::filename(path));
  return real;
}

bool proteus::isSameFile(StringRef a, StringRef b) {
  bool isSame = false;
  // `equivalent` also recognises hard links to one file. It fails if a file
  // does not exist.
  if (!sys::fs::equivalent(a, b, isSame))
    return isSame;
  return realPath(a) == realPath(b);
}

static Error fileError(StringRef path, std::error_code code) {
  return createStringError(code, path + ": cannot write: " + code.message());
}

/// Calls `write` with a stream to an open file. Returns the error of `write`
/// and the errors of the stream, such as a full disk. Clears the errors in the
/// stream, because the destructor of a stream with errors aborts the process.
static Error writeTo(int descriptor, bool close, StringRef path,
                     function_ref<Error(raw_ostream &)> write) {
  raw_fd_ostream os(descriptor, close);
  Error error = write(os);
  os.flush();
  if (!os.has_error())
    return error;
  std::error_code code = os.error();
  os.clear_error();
  return joinErrors(std::move(error), fileError(path, code));
}

Error proteus::writeFileAtomically(StringRef path,
                                   function_ref<Error(raw_ostream &)> write) {
  if (path == "-") {
    outs().flush();
    return writeTo(fileno(stdout), /*close=*/false, path, write);
  }
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      !sys::fs::is_regular_file(status)) {
    int descriptor;
    if (std::error_code code = sys::fs::openFileForWrite(
            path, descriptor, sys::fs::CD_OpenExisting))
      return fileError(path, code);
    return writeTo(descriptor, /*close=*/true, path, write);
  }

  // If `path` is a symbolic link, the file to which it leads is replaced and
  // the link remains.
  SmallString<256> target = realPath(path);
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(target + ".tmp-%%%%%%%%");
  if (!file)
    return fileError(path, errorToErrorCode(file.takeError()));
  if (Error error = writeTo(file->FD, /*close=*/false, path, write))
    return joinErrors(std::move(error), file->discard());
  if (Error error = file->keep(target))
    return fileError(path, errorToErrorCode(std::move(error)));
  return Error::success();
}

Error proteus::writeFileAtomically(StringRef path, StringRef text) {
  return writeFileAtomically(path, [&](raw_ostream &os) {
    os << text;
    return Error::success();
  });
}
