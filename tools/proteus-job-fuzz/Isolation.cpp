//===- Isolation.cpp - child processes ------------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Isolation.h"

#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace proteus::fuzz;

/// Calls `onLine` with the lines of the pipe until it is closed. Returns false
/// if no line arrives for `seconds`.
static bool readLines(int pipe,
                      llvm::function_ref<void(llvm::StringRef)> onLine,
                      unsigned seconds) {
  using Clock = std::chrono::steady_clock;
  std::string buffer;
  Clock::time_point last = Clock::now();
  while (true) {
    pollfd wait{pipe, POLLIN, 0};
    int ready = poll(&wait, 1, /*timeout=*/200);
    if (ready > 0) {
      char chunk[4096];
      ssize_t size = read(pipe, chunk, sizeof(chunk));
      if (size < 0 && errno == EINTR)
        continue;
      if (size <= 0)
        return true;
      buffer.append(chunk, size);
      for (size_t end; (end = buffer.find('\n')) != std::string::npos;
           buffer.erase(0, end + 1)) {
        onLine(llvm::StringRef(buffer).take_front(end));
        last = Clock::now();
      }
    }
    if (Clock::now() - last > std::chrono::seconds(seconds))
      return false;
  }
}

End proteus::fuzz::runIsolated(
    llvm::function_ref<void(llvm::raw_ostream &)> work,
    llvm::function_ref<void(llvm::StringRef)> onLine, unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0)
    llvm::report_fatal_error("no pipe for a child process");
  llvm::outs().flush();
  pid_t pid = fork();
  if (pid < 0)
    llvm::report_fatal_error("no child process");
  if (pid == 0) {
    close(ends[0]);
    // `proteus simulate` can reproduce the output of a crash.
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    {
      llvm::raw_fd_ostream stream(ends[1], /*shouldClose=*/false);
      work(stream);
    }
    _exit(0);
  }
  close(ends[1]);
  bool inTime = readLines(ends[0], onLine, seconds);
  close(ends[0]);
  if (!inTime)
    kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!inTime)
    return End::Late;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? End::Finished
                                                       : End::Crashed;
}
