#include "daemon/file_watch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace penstock::daemon {

FileWatch::Signature FileWatch::signature_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = found.st_size,
          .changed_ns = found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec};
}

FileWatch::Signatures FileWatch::signatures() const {
  Signatures found;
  found.reserve(files_.size());
  for (const std::filesystem::path& file : files_) found.push_back(signature_of(file));
  return found;
}

void FileWatch::watch(std::vector<std::filesystem::path> files) {
  files_ = std::move(files);
  known_ = signatures();
  changing_.reset();
}

bool FileWatch::poll(Instant now) {
  Signatures found = signatures();
  if (found == known_) {
    changing_.reset();
    return false;
  }
  if (!changing_) changing_since_ = now;
  if (changing_ != found && now - changing_since_ < kLongestWait) {
    changing_ = std::move(found);
    return false;
  }
  known_ = std::move(found);
  changing_.reset();
  return true;
}

std::chrono::milliseconds FileWatch::next_poll(Instant now) const {
  constexpr std::chrono::milliseconds kUsual{250};
  constexpr std::chrono::milliseconds kBetweenWrites{20};
  const bool is_long = changing_ && now - changing_since_ >= kLongestWait / 2;
  return is_long ? kBetweenWrites : kUsual;
}

}  // namespace penstock::daemon
