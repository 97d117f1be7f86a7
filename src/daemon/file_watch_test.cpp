#include "daemon/file_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace penstock::daemon {
namespace {

namespace fs = std::filesystem;

// A temporary directory.
class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    std::string name = (fs::temp_directory_path() / "penstock-watch-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~FileWatchTest() override { fs::remove_all(directory_); }

  [[nodiscard]] fs::path path(const std::string& name) const { return directory_ / name; }
  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
  }
  // A change is reported by the second poll that sees it.
  static bool changed(FileWatch& watch) { return !watch.poll(kNow) && watch.poll(kNow); }

  static constexpr Instant kNow{std::chrono::hours{1}};

 private:
  fs::path directory_;
};

TEST_F(FileWatchTest, ReportsNothingWhileNothingChanges) {
  write(path("a"), "one");
  FileWatch watch;
  watch.watch({path("a")});
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(watch.poll(kNow));
}

TEST_F(FileWatchTest, NoticesAFileWrittenInPlaceOnce) {
  write(path("a"), "one");
  FileWatch watch;
  watch.watch({path("a")});
  write(path("a"), "another");
  EXPECT_TRUE(changed(watch));
  EXPECT_FALSE(watch.poll(kNow));
}

TEST_F(FileWatchTest, LeavesAFileAloneWhileItIsBeingWritten) {
  write(path("a"), "1");
  FileWatch watch;
  watch.watch({path("a")});
  for (const char* text : {"12", "123", "1234"}) {
    write(path("a"), text);
    EXPECT_FALSE(watch.poll(kNow));
  }
  EXPECT_TRUE(watch.poll(kNow));
}

TEST_F(FileWatchTest, DoesNotWaitForEverForAFileThatIsRewrittenAllTheTime) {
  using std::chrono::milliseconds;
  write(path("a"), "1");
  FileWatch watch;
  watch.watch({path("a")});
  std::string text = "1";
  std::vector<int> changed_at;
  for (int ms = 0; ms <= 2500; ms += 100) {
    write(path("a"), text += "1");
    if (watch.poll(kNow + milliseconds{ms})) changed_at.push_back(ms);
  }
  EXPECT_EQ(changed_at, (std::vector<int>{1000, 2100}));
  EXPECT_TRUE(watch.poll(kNow + milliseconds{2600})) << "the last change, when it is quiet";
}

TEST_F(FileWatchTest, PollsMoreOftenWhileAFileChanges) {
  using std::chrono::milliseconds;
  write(path("a"), "1");
  FileWatch watch;
  watch.watch({path("a")});
  const milliseconds usual = watch.next_poll(kNow);
  write(path("a"), "12");
  EXPECT_FALSE(watch.poll(kNow));
  EXPECT_EQ(watch.next_poll(kNow + milliseconds{250}), usual);
  write(path("a"), "123");
  EXPECT_FALSE(watch.poll(kNow + milliseconds{500}));
  EXPECT_LT(watch.next_poll(kNow + milliseconds{500}), usual / 4);
  EXPECT_TRUE(watch.poll(kNow + milliseconds{520}));
  EXPECT_EQ(watch.next_poll(kNow + milliseconds{520}), usual);
}

TEST_F(FileWatchTest, NoticesAFileReplacedByARename) {
  write(path("a"), "one");
  FileWatch watch;
  watch.watch({path("a")});
  write(path("a.new"), "two");
  fs::rename(path("a.new"), path("a"));
  EXPECT_TRUE(changed(watch));
}

TEST_F(FileWatchTest, NoticesASymbolicLinkSwappedAboveIt) {
  fs::create_directory(path("v1"));
  fs::create_directory(path("v2"));
  write(path("v1") / "a", "same");
  write(path("v2") / "a", "same");
  fs::create_directory_symlink("v1", path("data"));
  fs::create_symlink("data/a", path("a"));
  FileWatch watch;
  watch.watch({path("a")});
  fs::create_directory_symlink("v2", path("data.new"));
  fs::rename(path("data.new"), path("data"));
  EXPECT_TRUE(changed(watch));
}

TEST_F(FileWatchTest, NoticesThatAFileIsDeletedAndRestored) {
  write(path("a"), "one");
  FileWatch watch;
  watch.watch({path("a")});
  fs::remove(path("a"));
  EXPECT_TRUE(changed(watch));
  write(path("a"), "one");
  EXPECT_TRUE(changed(watch));
}

}  // namespace
}  // namespace penstock::daemon
