//===- Flags.h - command-line flags of the driver ---------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Definition and parsing of the flags of the driver's commands.
//
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

/// The flags of a command. A flag has a name and optional aliases, such as the
/// name of the same flag in Megatron-LM. A flag sets a variable of the caller
/// or calls a function.
class Flags {
public:
  using Setter = std::function<llvm::Error(llvm::StringRef value)>;

  /// Begins a section of the help text, which lists the flags added from now
  /// on.
  void section(llvm::StringRef title) { current = title.str(); }
  /// Adds the flag `--name VALUE` or `--name=VALUE`, which calls `set`.
  void value(llvm::StringRef name, llvm::StringRef placeholder,
             llvm::StringRef help, Setter set,
             llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag whose value is an integer in [min, max].
  void integer(llvm::StringRef name, llvm::StringRef help, int64_t &target,
               int64_t min, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  void integer(llvm::StringRef name, llvm::StringRef help,
               std::optional<int64_t> &target, int64_t min, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag whose value is any text but the empty one.
  void text(llvm::StringRef name, llvm::StringRef placeholder,
            llvm::StringRef help, std::string &target,
            llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag whose value is one of `choices`.
  void choice(llvm::StringRef name, llvm::StringRef help,
              std::vector<std::string> choices,
              std::function<void(llvm::StringRef)> set,
              llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag of the forms `--name`, `--no-name`, `--name true` and
  /// `--name=false`. It calls `set` with "true" or "false".
  void boolean(llvm::StringRef name, llvm::StringRef help, Setter set,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds a flag of the forms `--name`, `--no-name` and `--name=false`. The
  /// next word is never its value.
  void flag(llvm::StringRef name, llvm::StringRef help, bool &target,
            llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// Adds the flag `--name`, which calls `act`.
  void action(llvm::StringRef name, llvm::StringRef help,
              std::function<void()> act,
              llvm::ArrayRef<llvm::StringRef> aliases = {});

  /// Applies the flags in `arguments` and returns the other arguments. The
  /// error for an unknown flag contains the nearest known one.
  llvm::Expected<std::vector<std::string>>
  parse(llvm::ArrayRef<std::string> arguments) const;
  /// Returns true if the parsed arguments contained the flag `name`, under its
  /// name or an alias.
  bool isGiven(llvm::StringRef name) const;
  /// Writes the list of all flags by section.
  void printHelp(llvm::raw_ostream &os) const;

private:
  struct Flag {
    std::string section, name, placeholder, help;
    std::vector<std::string> aliases;
    Setter set;
    bool takesValue = true;
    bool canBeOff = false;     ///< true if the form --no-NAME exists
    bool mayTakeValue = false; ///< true if the next word may be its value
    mutable bool given = false;
  };
  struct Found {
    const Flag *flag = nullptr; ///< null if there is no such flag
    bool isOff = false;         ///< true for the form --no-NAME
  };
  Found find(llvm::StringRef name) const;
  llvm::Error unknown(llvm::StringRef name) const;

  std::string current;
  std::vector<Flag> flags;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_FLAGS_H
