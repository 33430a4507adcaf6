//===- Flags.h - command lines of the driver --------------------*- C++ -*-===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// The flags of a command. A flag has a name and other names that mean the same
/// (those of Megatron-LM, say); each sets a variable of the caller.
class Flags {
public:
  using Setter = std::function<llvm::Error(llvm::StringRef value)>;

  /// Flags that follow are listed below `title`.
  void section(llvm::StringRef title) { current = title.str(); }
  /// `--name VALUE` or `--name=VALUE`.
  void value(llvm::StringRef name, llvm::StringRef placeholder,
             llvm::StringRef help, Setter set,
             llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// An integer in [min, max].
  void integer(llvm::StringRef name, llvm::StringRef help, int64_t &target,
               int64_t min, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  void integer(llvm::StringRef name, llvm::StringRef help,
               std::optional<int64_t> &target, int64_t min, int64_t max,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  void text(llvm::StringRef name, llvm::StringRef placeholder,
            llvm::StringRef help, std::string &target,
            llvm::ArrayRef<llvm::StringRef> aliases = {});
  void choice(llvm::StringRef name, llvm::StringRef help, std::string &target,
              llvm::ArrayRef<llvm::StringRef> choices,
              llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// `--name`, `--no-name`, `--name true`, `--name=false`. `set` is called with
  /// "true" or "false".
  void boolean(llvm::StringRef name, llvm::StringRef help, Setter set,
               llvm::ArrayRef<llvm::StringRef> aliases = {});
  void flag(llvm::StringRef name, llvm::StringRef help, bool &target,
            llvm::ArrayRef<llvm::StringRef> aliases = {});
  /// `--name`, which does something else than to set a flag of its own.
  void action(llvm::StringRef name, llvm::StringRef help,
              std::function<void()> act,
              llvm::ArrayRef<llvm::StringRef> aliases = {});

  /// Sets what `arguments` say; returns those that are no flags. An unknown
  /// flag is an error that names the nearest one.
  llvm::Expected<std::vector<std::string>>
  parse(llvm::ArrayRef<std::string> arguments) const;
  /// Whether `parse` met the flag, by its name.
  bool isGiven(llvm::StringRef name) const;
  void printHelp(llvm::raw_ostream &os) const;

private:
  struct Flag {
    std::string section, name, placeholder, help;
    std::vector<std::string> aliases;
    Setter set;
    bool takesValue = true;
    bool canBeOff = false;     ///< has the form --no-NAME
    bool mayTakeValue = false; ///< the next word may be true or false
    mutable bool given = false;
  };
  struct Found {
    const Flag *flag = nullptr;
    bool isOff = false;
  };
  Found find(llvm::StringRef name) const;
  llvm::Error unknown(llvm::StringRef name) const;

  std::string current;
  std::vector<Flag> flags;
};

} // namespace proteus

#endif // PROTEUS_SUPPORT_FLAGS_H
