#pragma once

#include "penstock/result.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace penstock::rules {

// The content of a file, up to a maximum size.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path,
                                                 std::size_t max_bytes);

// Paths in a file are relative to the file that contains them.
[[nodiscard]] std::filesystem::path resolve_relative_to(const std::filesystem::path& file,
                                                        const std::filesystem::path& written);

}  // namespace penstock::rules
