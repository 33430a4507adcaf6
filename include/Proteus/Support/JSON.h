//===- JSON.h - JSON with located errors ------------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one door to JSON. A Document is read through Readers: values that know
// where they are. The first failure is kept by the document and every later
// read gives a default, so a reader of a format is straight-line code that asks
// for an error once, at the end.
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

/// A value inside a Document, or the absence of one after an error. Cheap to
/// copy; valid as long as its document.
class Reader {
public:
  bool isObject() const;
  bool isArray() const;
  bool isString() const;
  bool isNumber() const;
  bool isNull() const;

  /// Fails unless this is an object whose keys are all in `allowed`. The
  /// message names the nearest allowed key.
  void expectKeys(llvm::ArrayRef<llvm::StringRef> allowed) const;

  /// True if this is an object that has `key`.
  bool has(llvm::StringRef key) const;
  /// The value of a key that must exist.
  Reader operator[](llvm::StringRef key) const;
  /// Keys and values of an object, in ascending order of the keys.
  std::vector<std::pair<std::string, Reader>> members() const;
  /// Elements of an array.
  std::vector<Reader> elements() const;

  /// The value as JSON.
  std::string text() const;
  std::string string() const;
  /// A string with at least one character.
  std::string nonEmptyString() const;
  bool boolean() const;
  /// An integer in [min, max]; 2.0 is one, 2.5 is not.
  int64_t integer(int64_t min, int64_t max) const;
  /// A number in (0, max].
  double positive(double max) const;
  /// A number in [0, max].
  double nonNegative(double max) const;

  /// Fails with a message about this value: "<source>: <message> at <path>".
  void fail(const llvm::Twine &message) const;
  /// Where the value is: "device.memory_gib", "links[2]"; empty at the root.
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

/// A parsed text and the first error that reading it met.
class Document {
public:
  /// Parses `text`; errors call it `source`. Malformed text gives line and
  /// column; a key that appears twice in an object is an error.
  static llvm::Expected<Document> parse(llvm::StringRef text,
                                        llvm::StringRef source);
  Document(Document &&other) noexcept;
  Document &operator=(Document &&other) noexcept;
  ~Document();

  Reader root() const;
  /// The first error of all reads since it was last asked for.
  llvm::Error takeError() const;

private:
  friend class Reader;
  struct State;
  explicit Document(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// `text` as a JSON string, quotes included. Invalid UTF-8 is replaced.
std::string quote(llvm::StringRef text);

/// The shortest decimal that reads back as `value`; "null" if not finite.
std::string formatNumber(double value);

/// Writes JSON in the order of the calls, so the same calls give the same
/// bytes. Indents by two spaces; ends the outermost value with a newline.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &os) : os(os) {}

  void beginObject();
  void endObject();
  void beginArray();
  void endArray();
  /// The key of the next value; inside an object only.
  void key(llvm::StringRef name);

  void value(llvm::StringRef text);
  void value(const char *text) { value(llvm::StringRef(text)); }
  void value(const std::string &text) { value(llvm::StringRef(text)); }
  void value(double number);
  void value(int64_t number);
  void value(uint64_t number);
  void value(bool flag);
  void null();

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
  std::vector<bool> hasElements; ///< one per open object or array
  bool afterKey = false;
};

} // namespace proteus::json

#endif // PROTEUS_SUPPORT_JSON_H
