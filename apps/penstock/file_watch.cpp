#include "apps/penstock/file_watch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace penstock::app {

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

bool FileWatch::look() {
  Signatures now = signatures();
  if (now == known_) {
    changing_.reset();
    return false;
  }
  if (changing_ != now) {
    changing_ = std::move(now);
    return false;
  }
  known_ = *std::exchange(changing_, std::nullopt);
  return true;
}

}  // namespace penstock::app
