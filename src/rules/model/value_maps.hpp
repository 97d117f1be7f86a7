#pragma once

#include "base/text_hash.hpp"
#include "rules/model/rule.hpp"
#include "rules/yaml/diagnostic.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

using ValueMap = base::TextMap<std::string>;

// "key,value" per line, either in quotes where it has a comma or a quote, which is then doubled.
// Empty lines and lines that begin with # are skipped.
[[nodiscard]] ValueMap parse_csv_map(std::string_view text, const std::string& file,
                                     Diagnostics& diagnostics);
// "key: value" per line, as YAML.
[[nodiscard]] ValueMap parse_yaml_map(std::string_view text, const std::string& file,
                                      Diagnostics& diagnostics);

// The same without the fast path for simple lines.
[[nodiscard]] ValueMap parse_any_yaml_map(std::string_view text, const std::string& file,
                                          Diagnostics& diagnostics);

// The maps of a configuration by name, inline or from files.
class ValueMaps {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  // Reads the section `maps`. Files that it names are appended to `files`.
  void load(const YamlNode& section, std::vector<std::filesystem::path>& files);
  // Null, and reported, when there is none.
  [[nodiscard]] std::shared_ptr<const ValueMap> find(const YamlNode& name);
  // Where a map has a value.
  struct Origin {
    std::string name;
    std::string file;
    Position position;
  };
  // The first key with this value; the declaration of the map when a YAML file quotes it or is not
  // in block style. Linear in the size of the map. REQUIRES: the map is one of find().
  [[nodiscard]] Origin origin_of(const ValueMap& map, std::string_view value) const;
  // Warns of unused maps.
  void report_unused(Diagnostics& diagnostics) const;

 private:
  struct Entry {
    std::shared_ptr<const ValueMap> map;
    std::string file;
    Position position;
    std::optional<YamlNode> values{};  // of an inline map
    std::string text_file{};           // of a map in a file, with its text
    std::string text{};
    bool used = false;
  };
  base::TextMap<Entry> maps_;
};

}  // namespace penstock::rules
