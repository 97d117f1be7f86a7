#pragma once

#include "rules/yaml/diagnostic.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::rules {

// A position in a file, both from 1.
struct Position {
  std::size_t line = 0;
  std::size_t column = 0;
};

enum class YamlKind : std::uint8_t { Nothing, Text, List, Map };

struct YamlItem {
  YamlKind kind = YamlKind::Nothing;
  bool quoted = false;  // of a text: in quotes, so it means neither a number nor nothing
  Position position{};
  std::string text{};
  std::vector<std::uint32_t> children{};  // of a map: key, value, key, value
};

// A YAML file as a tree with positions. Aliases share their target; merge keys (`<<`) are resolved.
// All readers report mistakes into one list.
class YamlDocument {
 public:
  // Limits on a file. A tree that is larger after alias expansion is rejected.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  static constexpr std::size_t kMaxItems = 2'000'000;
  static constexpr std::size_t kMaxDepth = 64;

  // Null, and reported, when the text is not YAML or too large. An empty text is
  // Nothing. The list must outlive the document.
  [[nodiscard]] static std::unique_ptr<const YamlDocument> parse(std::string_view text,
                                                                 std::string file,
                                                                 Diagnostics& diagnostics);

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::uint32_t root() const noexcept { return root_; }
  [[nodiscard]] const YamlItem& item(std::uint32_t index) const noexcept { return items_[index]; }
  [[nodiscard]] Diagnostics& diagnostics() const noexcept { return *diagnostics_; }
  void report(Diagnostic::Severity severity, Position position, std::string message) const;

 private:
  friend class YamlBuilder;
  YamlDocument(std::string file, Diagnostics& diagnostics)
      : file_(std::move(file)), diagnostics_(&diagnostics) {}

  std::string file_;
  Diagnostics* diagnostics_;
  std::vector<YamlItem> items_;
  std::uint32_t root_ = 0;
};

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace penstock::rules
