//===- FileTest.cpp - atomic writes of files ------------------------------===//
//
// Part of the Proteus project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proteus/Support/File.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace proteus;

namespace {

class FileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(
        sys::fs::createUniqueDirectory("proteus-file-test", directory));
    path = (directory + "/out.json").str();
  }
  void TearDown() override { sys::fs::remove_directories(directory); }

  unsigned numFiles() const {
    std::error_code code;
    unsigned count = 0;
    for (sys::fs::directory_iterator i(directory, code), e; i != e && !code;
         i.increment(code))
      ++count;
    return count;
  }
  std::string contents() const {
    auto buffer = MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "<none>";
  }

  SmallString<128> directory;
  std::string path;
};

TEST_F(FileTest, WritesAndReplacesTheWholeText) {
  EXPECT_EQ(toString(writeFileAtomically(path, "first, longer")), "");
  EXPECT_EQ(toString(writeFileAtomically(path, "second")), "");
  EXPECT_EQ(contents(), "second");
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(FileTest, AFailedWriterLeavesTheOldFileAndNoOther) {
  EXPECT_EQ(toString(writeFileAtomically(path, "old")), "");
  Error error = writeFileAtomically(path, [](raw_ostream &os) -> Error {
    os << "half of the";
    return createStringError("ran out of ideas");
  });
  EXPECT_EQ(toString(std::move(error)), "ran out of ideas");
  EXPECT_EQ(contents(), "old");
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(FileTest, NamesThePathThatCannotBeWritten) {
  std::string bad = (directory + "/missing/out.json").str();
  EXPECT_EQ(toString(writeFileAtomically(bad, "x")),
            bad + ": cannot write: No such file or directory");
}

TEST_F(FileTest, ADirectoryIsNotReplaced) {
  EXPECT_NE(toString(writeFileAtomically(directory, "x")), "");
  EXPECT_TRUE(sys::fs::is_directory(directory));
}

TEST_F(FileTest, ADeviceIsWrittenInPlace) {
  EXPECT_EQ(toString(writeFileAtomically("/dev/null", "x")), "");
  EXPECT_FALSE(sys::fs::is_regular_file("/dev/null"));
}

TEST_F(FileTest, AFullDiskIsAnError) {
  if (!sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "needs /dev/full";
  EXPECT_EQ(toString(writeFileAtomically("/dev/full", "x")),
            "/dev/full: cannot write: No space left on device");
}

} // namespace
