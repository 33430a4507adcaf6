//===- Flags.h - command-line flags of the driver ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Defines and parses the flags of the driver's commands.
//===----------------------------------------------------------------------===//

#ifndef PROTEUS_SUPPORT_FLAGS_H
#define PROTEUS_SUPPORT_FLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace proteus {

/// The flags of a command. A flag has a name and optional aliases, for example
/// the name of the same flag in Megatron-LM. When a flag is parsed, it sets a
/// variable of the caller or calls a function of the caller.
class Flags {
public:
  using Setter = std::function<llvm::Error(llvm::StringRef value)>;

  /// A flag as `value` and the functions after it add it.
  struct Flag {
    std::string section, name, placeholder, help;
    std::vector<std::string> aliases;
    Setter set;
    bool takesValue = true;
    bool canBeOff = false;     ///< true if the form --no-NAME exists
    bool mayTakeValue = false; ///< true if the next argument may be the value
    mutable bool given = false;
  };

  /// Sets the text that the help shows before the flags: the use of the command
  /// and an example.
  void about(llvm::StringRef text) { introduction = text.str(); }
  /// Begins a section of the help text. The section lists the flags that are
  /// added after this call.
  void section(llvm::StringRef title) { current = title.str(); }
  /// Adds a flag of the forms `--name VALUE` and `--name=VALUE`. When the flag
  /// is parsed, `set` is called with the value. `placeholder` is the word for
  /// the value in the help text.
  void value(llvm::StringRef name, llvm::StringRef placeholder,
             llvm::StringRef help, Setter set,
             llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag that sets `target` to an integer in [min, max].
  void integer(llvm::StringRef name, llvm::StringRef help, int64_t &target,
               int64_t min, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  void integer(llvm::StringRef name, llvm::StringRef help,
               std::optional<int64_t> &target, int64_t min, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag that sets `target` to a text, which must not be empty.
  void text(llvm::StringRef name, llvm::StringRef placeholder,
            llvm::StringRef help, std::string &target,
            llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag that takes one of `choices` and calls `set` with it.
  void choice(llvm::StringRef name, llvm::StringRef help,
              std::vector<std::string> choices,
              std::function<void(llvm::StringRef)> set,
              llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag of the forms `--name`, `--no-name`, `--name true` and
  /// `--name=false`. It calls `set` with "true" or "false".
  void boolean(llvm::StringRef name, llvm::StringRef help, Setter set,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag of the forms `--name`, `--no-name` and `--name=false`. Unlike
  /// `boolean`, it does not take the next argument as its value.
  void flag(llvm::StringRef name, llvm::StringRef help, bool &target,
            llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds the flag `--name`, which has no value and calls `act`.
  void action(llvm::StringRef name, llvm::StringRef help,
              std::function<void()> act,
              llvm::ArrayRef<llvm::StringRef> aliases = {});

  /// Applies the flags in `arguments` and returns the arguments that are not
  /// flags. The error for an unknown flag contains the most similar known flag,
  /// if any is similar.
  llvm::Expected<std::vector<std::string>>
  parse(llvm::ArrayRef<std::string> arguments) const;
  /// Returns true if the parsed arguments contained the flag `name`, by its
  /// name or by an alias.
  bool isGiven(llvm::StringRef name) const;
  /// Writes the help text: the introduction, and all flags by section.
  void printHelp(llvm::raw_ostream &os) const;
  llvm::StringRef getIntroduction() const { return introduction; }
  /// Returns the flags in the order of the help text.
  llvm::ArrayRef<Flag> getFlags() const { return flags; }

private:
  struct Found {
    const Flag *flag = nullptr; ///< null if there is no such flag
    bool isOff = false;         ///< true for the form --no-NAME
  };
  Found find(llvm::StringRef name) const;
  llvm::Error unknown(llvm::StringRef name) const;

  std::string introduction;
  std::string current;
  std::vector<Flag> flags;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_FLAGS_H
