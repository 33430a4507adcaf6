//===- JSON.h - JSON with located errors ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading and writing of JSON for all rooms. A Document is a parsed text;
// Readers are values inside it that hold their path. The document keeps the
// first error, and every later read returns a default. The reader of a format
// is therefore straight-line code with one check for an error at the end.
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

/// A value inside a Document, or no value after an error. Cheap to copy. Valid
/// as long as its document exists.
class Reader {
public:
  bool isObject() const;
  bool isArray() const;
  bool isString() const;
  bool isNumber() const;
  bool isNull() const;

  /// Fails unless this is an object whose keys are all in `allowed`. The
  /// message contains the nearest allowed key.
  void expectKeys(llvm::ArrayRef<llvm::StringRef> allowed) const;

  /// Returns true if this is an object that has `key`.
  bool has(llvm::StringRef key) const;
  /// Returns the value of `key`. Fails if there is none.
  Reader operator[](llvm::StringRef key) const;
  /// Returns keys and values of an object, in ascending order of the keys.
  std::vector<std::pair<std::string, Reader>> members() const;
  /// Returns the elements of an array.
  std::vector<Reader> elements() const;

  /// Returns the value as JSON text.
  std::string text() const;
  /// Returns a string. Like the following functions, fails and returns a
  /// default if the value has another type or is out of range.
  std::string string() const;
  /// Returns a string with at least one character.
  std::string nonEmptyString() const;
  bool boolean() const;
  /// Returns an integer in [min, max]; 2.0 is one, 2.5 is not.
  int64_t integer(int64_t min, int64_t max) const;
  /// Returns a number in (0, max].
  double positive(double max) const;
  /// Returns a number in [0, max].
  double nonNegative(double max) const;

  /// Records the error "<source>: <message> at <path>" unless the document has
  /// an error already.
  void fail(const llvm::Twine &message) const;
  /// Returns the path of the value: "device.memory_gib", "links[2]"; empty at
  /// the root.
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

/// A parsed text and the first error of reading it.
class Document {
public:
  /// Parses `text`, which errors call `source`. Errors of malformed text
  /// contain line and column. A repeated key in an object is an error.
  static llvm::Expected<Document> parse(llvm::StringRef text,
                                        llvm::StringRef source);
  Document(Document &&other) noexcept;
  Document &operator=(Document &&other) noexcept;
  ~Document();

  /// Returns the outermost value.
  Reader root() const;
  /// Returns the first error of all reads since the last call.
  llvm::Error takeError() const;

private:
  friend class Reader;
  struct State;
  explicit Document(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Returns `text` as a JSON string with quotes. Replaces invalid UTF-8.
std::string quote(llvm::StringRef text);

/// Returns the shortest decimal that parses to `value`, or "null" if `value` is
/// not finite.
std::string formatNumber(double value);

/// A stream of JSON. It writes values in the order of the calls, so that the
/// same calls produce the same bytes. It indents by two spaces and ends the
/// outermost value with a newline.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &os) : os(os) {}

  void beginObject();
  void endObject();
  void beginArray();
  void endArray();
  /// Writes the key of the next value. Valid inside an object only.
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
