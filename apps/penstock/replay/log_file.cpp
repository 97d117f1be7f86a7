#include "apps/penstock/replay/log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace penstock::app {
namespace {

Error system_error_of(int code) {
  return {ErrorCode::InvalidInput, std::generic_category().message(code)};
}

}  // namespace

Result<std::unique_ptr<LogFile>> LogFile::open(const std::string& path) {
  if (path == "-") return std::unique_ptr<LogFile>(new LogFile(STDIN_FILENO, 0));
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return Error{ErrorCode::InvalidInput, path + ": is a directory"};
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error{ErrorCode::InvalidInput, path + ": " + system_error_of(errno).detail};
  }
  const bool is_regular = std::filesystem::is_regular_file(path, failure);
  const std::uintmax_t size = is_regular ? std::filesystem::file_size(path, failure) : 0;
  return std::unique_ptr<LogFile>(new LogFile(descriptor, failure ? 0 : size));
}

LogFile::~LogFile() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

Result<std::size_t> LogFile::read(std::span<char> into) {
  while (true) {
    const ssize_t got = ::read(descriptor_, into.data(), into.size());
    if (got >= 0) {
      bytes_read_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) return system_error_of(errno);
  }
}

}  // namespace penstock::app
