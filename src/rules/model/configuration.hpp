#pragma once

#include "base/text_hash.hpp"
#include "rules/model/ruleset.hpp"
#include "rules/settings/settings.hpp"
#include "rules/yaml/diagnostic.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::rules {

// A position in a file.
struct FilePosition {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
};

struct Configuration {
  Settings settings{};
  std::shared_ptr<const Ruleset> rules;
  base::TextMap<FilePosition> places{};  // of sections that name files: "server.tls", "store" ...
  std::vector<std::filesystem::path> files;  // all that were read, maps included: to be watched
};

struct Loaded {
  std::optional<Configuration> configuration;  // empty when there was any error
  std::vector<Diagnostic> diagnostics;         // all of them, and the warnings
};

// Reads configurations of our own format and of envoyproxy/ratelimit, which their top-level keys
// identify. A directory stands for its *.yaml and *.yml files.
[[nodiscard]] Loaded load(std::span<const std::filesystem::path> paths);
// The same from a text, for tests. `name` is the file name in errors; paths are relative to it.
[[nodiscard]] Loaded load_text(std::string_view text, const std::filesystem::path& name);

}  // namespace penstock::rules
