//===- ModuleFile.cpp - reading files with IR -----------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/ModuleFile.h"

#include "Proteus/Support/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace proteus;

/// The first bytes of MLIR bytecode.
static constexpr StringLiteral bytecodeMagic = "ML\xefR";

/// Alignment of the buffers that readModuleFile returns. The constants in
/// bytecode require an alignment, which is at most the size of a page.
static constexpr Align bufferAlignment = Align::Constant<4096>();

namespace {
/// Searches a text for its first fault.
class TextScanner {
public:
  explicit TextScanner(StringRef text) : rest(text) {}

  std::optional<TextFault> run() {
    while (!rest.empty() && !fault)
      step();
    return fault;
  }

private:
  /// The definition of an alias, as far as it was read.
  struct Alias {
    int depth = 0;   ///< most brackets that are open in it
    double uses = 1; ///< number of aliases to which it leads
  };

  void step();
  void skipString();
  void readWord();
  void readAlias();
  void use(StringRef name, const Alias &alias);
  void open(int brackets);

  bool consume(StringRef token) { return rest.consume_front(token); }
  void fail(const Twine &reason) {
    if (!fault)
      fault = TextFault{line, reason.str()};
  }

  StringRef rest; ///< the text that is not read yet
  size_t line = 1;
  int depth = 0;            ///< brackets that are open
  int signs = 0;            ///< signs in sequence
  StringMap<Alias> aliases; ///< by name, with `#` or `!`
  Alias *current = nullptr; ///< the last one that was defined
  StringRef currentName;
  std::optional<TextFault> fault;
};
} // namespace

static bool isWordCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '.';
}

/// Reads one token, or one character of white space.
void TextScanner::step() {
  char c = rest.front();
  if (c == '\n' || isSpace(c)) {
    line += c == '\n';
    rest = rest.drop_front();
    return;
  }
  if (consume("//")) {
    rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
    return;
  }
  // Arrows and comparisons are neither brackets nor signs.
  if (consume("->") || consume("<=") || consume(">=")) {
    signs = 0;
    return;
  }
  if (consume("-")) {
    if (++signs > maxNesting)
      fail("more than " + Twine(maxNesting) + " signs follow each other");
    return;
  }
  signs = 0;
  if (c == '"')
    return skipString();
  if (isWordCharacter(c))
    return readWord();
  if (c == '#' || c == '!')
    return readAlias();
  rest = rest.drop_front();
  if (StringRef("([{<").contains(c)) {
    ++depth;
    open(depth);
  } else if (StringRef(")]}>").contains(c)) {
    depth = std::max(0, depth - 1);
  }
}

/// Notes that `brackets` brackets are open.
void TextScanner::open(int brackets) {
  if (current)
    current->depth = std::max(current->depth, brackets);
  if (brackets > maxNesting)
    fail("more than " + Twine(maxNesting) +
         " brackets are open, deeper than in any model; write the nested parts "
         "one after the other");
}

/// A string ends at the end of its line. A missing quote therefore hides at
/// most the rest of one line.
void TextScanner::skipString() {
  size_t i = 1;
  for (; i < rest.size() && rest[i] != '"' && rest[i] != '\n'; ++i)
    if (rest[i] == '\\' && rest.substr(i + 1, 1) != "\n")
      ++i;
  bool isClosed = i < rest.size() && rest[i] == '"';
  rest = rest.drop_front(std::min(i + isClosed, rest.size()));
}

void TextScanner::readWord() {
  StringRef word = rest.take_while(isWordCharacter);
  if (word.size() > maxWord)
    fail("a word has more than " + Twine(maxWord) +
         " characters; a tensor has too many dimensions, or a name is too "
         "long");
  rest = rest.drop_front(word.size());
}

/// Reads `#` or `!`, and the name of the alias that follows.
void TextScanner::readAlias() {
  StringRef name =
      rest.take_front(1 + rest.drop_front().take_while(isWordCharacter).size());
  rest = rest.drop_front(name.size());
  // `#dist.mesh` is an attribute of a dialect.
  if (name.size() == 1 || name.contains('.'))
    return;
  StringRef after = rest.ltrim();
  if (after.starts_with("=") && !after.starts_with("==")) {
    current = &aliases[name];
    *current = Alias();
    currentName = name;
    return;
  }
  auto found = aliases.find(name);
  if (found != aliases.end() && name != currentName)
    use(name, found->second);
}

/// Notes that an alias is used. All text up to the next definition counts as a
/// part of the current one, so its numbers may be too large. They matter only
/// if a further definition uses it.
void TextScanner::use(StringRef name, const Alias &alias) {
  if (alias.uses > maxAliasUses)
    fail("'" + name + "' leads to more than " +
         Twine(static_cast<int64_t>(maxAliasUses)) +
         " uses of other aliases; write fewer of them into each other");
  if (current)
    current->uses += alias.uses;
  open(depth + alias.depth);
}

std::optional<TextFault> proteus::findTextFault(StringRef text) {
  return TextScanner(text).run();
}

Expected<std::unique_ptr<MemoryBuffer>>
proteus::readModuleFile(StringRef path) {
  Expected<std::string> text =
      readInput(path == "-" ? "/dev/stdin" : path, maxModuleMebibytes);
  if (!text)
    return text.takeError();
  if (!StringRef(*text).starts_with(bytecodeMagic))
    if (std::optional<TextFault> fault = findTextFault(*text))
      return createStringError("can't read '" + path + "': line " +
                               Twine(fault->line) + ": " + fault->reason);
  std::unique_ptr<WritableMemoryBuffer> buffer =
      WritableMemoryBuffer::getNewUninitMemBuffer(
          text->size(), path == "-" ? "<stdin>" : path, bufferAlignment);
  llvm::copy(*text, buffer->getBufferStart());
  return std::unique_ptr<MemoryBuffer>(std::move(buffer));
}
