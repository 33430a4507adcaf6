//===- DocumentFilter.cpp - documents that the parser can read ------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DocumentFilter.h"

#include "Proteus/Support/ModuleFile.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <thread>
#include <unistd.h>

using namespace mlir;
namespace json = llvm::json;
using llvm::lsp::JSONStreamStyle;

//===----------------------------------------------------------------------===//
// The text that replaces a document
//===----------------------------------------------------------------------===//

/// The operation that replaces a document.
static constexpr llvm::StringLiteral refusal = "refused.document";

namespace {
/// A dialect whose only operation is refused with the reason for which a
/// document was replaced.
class RefusalDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefusalDialect)
  explicit RefusalDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<RefusalDialect>()) {
  }
  static StringRef getDialectNamespace() {
    return StringRef(refusal).split('.').first;
  }

  std::optional<ParseOpHook>
  getParseOperationHook(StringRef name) const override {
    if (name != refusal)
      return std::nullopt;
    return [](OpAsmParser &parser, OperationState &) -> ParseResult {
      SMLoc place = parser.getNameLoc();
      std::string reason;
      if (parser.parseString(&reason))
        return failure();
      // Unlike an error of the parser, this one does not name the operation.
      return mlir::emitError(parser.getEncodedSourceLoc(place), reason);
    };
  }
};
} // namespace

void proteus::lsp::registerRefusalDialect(DialectRegistry &registry) {
  registry.insert<RefusalDialect>();
}

/// Returns a text that gives one diagnostic, in the line of `fault`.
static std::string refuse(const proteus::TextFault &fault) {
  std::string text(fault.line - 1, '\n');
  llvm::raw_string_ostream os(text);
  os << refusal << " \"";
  llvm::printEscapedString(fault.reason, os);
  os << "\"\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Replaces the document in the member `text` of `object`, if MLIR's parser
/// can't handle it.
static void filterText(json::Object *object) {
  std::optional<StringRef> text =
      object ? object->getString("text") : std::nullopt;
  if (!text)
    return;
  if (std::optional<proteus::TextFault> fault = proteus::findTextFault(*text))
    (*object)["text"] = refuse(*fault);
}

/// Returns the message for the server: `message`, or a message with another
/// document. The server asks clients for whole documents, so that a message
/// contains no parts of documents.
static std::string filter(StringRef message) {
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    // The server reports the error.
    llvm::consumeError(value.takeError());
    return message.str();
  }
  json::Object *object = value->getAsObject();
  json::Object *params = object ? object->getObject("params") : nullptr;
  if (!params)
    return message.str();
  filterText(params->getObject("textDocument"));
  if (json::Array *changes = params->getArray("contentChanges"))
    for (json::Value &change : *changes)
      filterText(change.getAsObject());
  std::string text;
  llvm::raw_string_ostream(text) << *value;
  return text;
}

//===----------------------------------------------------------------------===//
// Standard input
//===----------------------------------------------------------------------===//

/// Writes all bytes to a file. Returns false if the file is closed.
static bool write(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0)
      return false;
    bytes = bytes.drop_front(written);
  }
  return true;
}

/// Copies messages from `input` to `output` until one of them ends.
static void copyMessages(std::FILE *input, int output, JSONStreamStyle style) {
  llvm::lsp::JSONTransportInputOverFile messages(input, style);
  std::string message;
  bool isOpen = true;
  while (isOpen && !messages.isEndOfInput() && !messages.hasError()) {
    if (failed(messages.readMessage(message)))
      continue;
    std::string filtered = filter(message);
    isOpen = style == JSONStreamStyle::Delimited
                 ? write(output, filtered + "\n// -----\n")
                 : write(output,
                         "Content-Length: " + std::to_string(filtered.size()) +
                             "\r\n\r\n" + filtered);
  }
  ::close(output);
}

bool proteus::lsp::filterStandardInput(JSONStreamStyle style) {
  int ends[2];
  int client = ::dup(STDIN_FILENO);
  if (client < 0 || ::pipe(ends) || ::dup2(ends[0], STDIN_FILENO) < 0)
    return false;
  ::close(ends[0]);
  // A server that has ended does not read the rest.
  std::signal(SIGPIPE, SIG_IGN);
  std::thread(copyMessages, ::fdopen(client, "r"), ends[1], style).detach();
  return true;
}
