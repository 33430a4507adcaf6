// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the number of the active mutant and opens the table of executed code.
// The table is a file that all processes of a test share, so marks survive
// crashes.

#include "Proteus/Mutants.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char unread[PROTEUS_MUTANTS_COUNT];

unsigned mutant::active = 0;
unsigned char *mutant::executed = unread;

static bool initialize() {
  if (const char *number = getenv("PROTEUS_MUTANT"))
    mutant::active = strtoul(number, nullptr, 10);
  const char *path = getenv("PROTEUS_MUTANTS_EXECUTED");
  if (!path)
    return true;
  int file = open(path, O_RDWR | O_CREAT, 0666);
  if (file < 0 || ftruncate(file, PROTEUS_MUTANTS_COUNT))
    abort();
  void *table = mmap(nullptr, PROTEUS_MUTANTS_COUNT, PROT_READ | PROT_WRITE,
                     MAP_SHARED, file, 0);
  close(file);
  if (table == MAP_FAILED)
    abort();
  mutant::executed = static_cast<unsigned char *>(table);
  return true;
}

static bool initialized = initialize();
