//===- JSON.h - JSON with located errors ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes JSON for all parts of Proteus. A Document is a parsed text.
// A Reader refers to one value of a document and holds the path of the value.
// If a read fails, the document records the first error, and the read returns a
// default value. Code that reads a format therefore needs only one check for an
// error, at the end.
//
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_JSON_H
#define PROTEUS_SUPPORT_JSON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace proteus::json {

class Document;

/// A value of a Document, or no value after an error. If a function fails, it
/// records an error in the document and returns a default. Readers are cheap to
/// copy and valid as long as the document exists.
class Reader {
public:
  bool isObject() const;
  bool isArray() const;
  bool isString() const;
  bool isNumber() const;
  bool isNull() const;

  /// Fails if this is not an object, or if it has a key that is not in
  /// `allowed`. The error contains the nearest allowed key.
  void expectKeys(llvm::ArrayRef<llvm::StringRef> allowed) const;

  /// Returns true if this is an object that has `key`.
  bool has(llvm::StringRef key) const;
  /// Returns the value of `key`. Fails if the key is missing.
  Reader operator[](llvm::StringRef key) const;
  /// Returns the keys and values of an object, in ascending order of the keys.
  std::vector<std::pair<std::string, Reader>> members() const;
  /// Returns those of `members` that no call of `operator[]` has returned.
  std::vector<std::pair<std::string, Reader>> unreadMembers() const;
  /// Returns the elements of an array.
  std::vector<Reader> elements() const;

  /// Returns the value as JSON text, or an empty string after an error.
  std::string text() const;
  /// Returns the value as a string. This function and the following ones fail
  /// if the value has another type or is out of range.
  std::string string() const;
  /// Returns the value as a string that is not empty.
  std::string nonEmptyString() const;
  bool boolean() const;
  /// Returns the value as an integer in [min, max]. Accepts 2.0 but not 2.5.
  int64_t integer(int64_t min, int64_t max) const;
  /// Returns the value as a number in (0, max].
  double positive(double max) const;
  /// Returns the value as a number in [0, max].
  double nonNegative(double max) const;

  /// Records the error "<source>: <message> at <path>". Does nothing if the
  /// document already has an error.
  void fail(const llvm::Twine &message) const;
  /// Returns the path of the value, for example "device.memory_gib" or
  /// "links[2]". The path of the root is empty.
  const std::string &path() const { return where; }

private:
  friend class Document;
  Reader(const Document *document, const void *value, std::string where)
      : document(document), value(value), where(std::move(where)) {}
  /// Fails with "expected <what> at <path>, got <value>".
  void mismatch(const llvm::Twine &what) const;
  double number(llvm::StringRef what, double max, bool allowZero) const;

  const Document *document;
  const void *value; ///< nullptr after an error
  std::string where;
};

/// A parsed text, and the first error of its Readers.
class Document {
public:
  /// Parses `text`. Error messages begin with `source`, the name of the text.
  /// Errors of malformed text contain line and column. Fails if an object
  /// repeats a key, or if values are nested too deeply.
  static llvm::Expected<Document> parse(llvm::StringRef text,
                                        llvm::StringRef source);
  Document(Document &&other) noexcept;
  Document &operator=(Document &&other) noexcept;
  ~Document();

  /// Returns the outermost value.
  Reader root() const;
  /// Returns the name of the text.
  llvm::StringRef source() const;
  /// Returns the first error since the last call, and clears it.
  llvm::Error takeError() const;

private:
  friend class Reader;
  struct State;
  explicit Document(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Returns `text` as a JSON string with quotes. Replaces bytes that are not
/// UTF-8 by U+FFFD.
std::string quote(llvm::StringRef text);

/// Returns the shortest decimal number that is read back as `value`, or "null"
/// if `value` is not finite.
std::string formatNumber(double value);

/// Writes JSON to a stream. The order of the calls is the order in the output.
/// Indents by two spaces and ends the outermost object or array with a newline.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &os) : os(os) {}

  void beginObject();
  void endObject();
  void beginArray();
  void endArray();
  /// Writes the key of the next value. Allowed only inside an object.
  void key(llvm::StringRef name);

  void value(llvm::StringRef text);
  void value(const char *text) { value(llvm::StringRef(text)); }
  void value(const std::string &text) { value(llvm::StringRef(text)); }
  void value(double number);
  void value(int64_t number);
  void value(uint64_t number);
  void value(bool flag);
  void null();

  /// Writes a key and its value.
  template <typename T> void attribute(llvm::StringRef name, const T &v) {
    key(name);
    value(v);
  }
  void attributeNull(llvm::StringRef name) {
    key(name);
    null();
  }

private:
  void separate();
  void open(char bracket);
  void close(char bracket);
  void indent();

  llvm::raw_ostream &os;
  /// For each open object or array, true if it has elements.
  std::vector<bool> hasElements;
  bool afterKey = false; ///< true between a key and its value
};

} // namespace proteus::json

#endif // PROTEUS_SUPPORT_JSON_H
