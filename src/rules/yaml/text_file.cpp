#include "rules/yaml/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

namespace penstock::rules {

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto failure = [&](const std::string& why) {
    return Error{ErrorCode::InvalidInput, path.string() + " cannot be read: " + why};
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return failure("it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return failure(std::generic_category().message(errno));
  std::string text;
  // In chunks: the file may be an endless pipe.
  constexpr std::size_t kPiece = std::size_t{64} * 1024;
  while (file) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    file.read(text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_bytes) {
      return failure("more than " + std::to_string(max_bytes) + " bytes");
    }
  }
  if (file.bad()) return failure("input error");
  return text;
}

std::filesystem::path resolve_relative_to(const std::filesystem::path& file,
                                          const std::filesystem::path& written) {
  return written.is_absolute() ? written : file.parent_path() / written;
}

}  // namespace penstock::rules
