#pragma once

#include "penstock/time.hpp"
#include "rules/yaml/yaml_document.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Reads keys into members. A member keeps its value when the key is missing.
namespace penstock::rules {

struct YamlEntry;

// One value of a document. Getters return the expected type; on a mismatch they report position,
// value and expectation, and return nothing. The document must outlive it.
class YamlNode {
 public:
  explicit YamlNode(const YamlDocument& document)
      : YamlNode(document, document.root(), std::string_view{}) {}

  [[nodiscard]] YamlKind kind() const noexcept { return item_->kind; }
  [[nodiscard]] bool is_nothing() const noexcept { return kind() == YamlKind::Nothing; }
  [[nodiscard]] bool is_text() const noexcept { return kind() == YamlKind::Text; }
  [[nodiscard]] bool is_list() const noexcept { return kind() == YamlKind::List; }
  [[nodiscard]] bool is_map() const noexcept { return kind() == YamlKind::Map; }
  [[nodiscard]] Position position() const noexcept { return item_->position; }
  [[nodiscard]] const std::string& file() const noexcept { return document_->file(); }
  // The text without its quotes; empty for other kinds. Valid as long as the document.
  [[nodiscard]] std::string_view raw() const noexcept { return item_->text; }
  [[nodiscard]] bool is_quoted() const noexcept { return item_->quoted; }
  // Its key, for messages; for an item of a list, the key of the list.
  [[nodiscard]] std::string_view label() const noexcept { return label_; }

  [[nodiscard]] Diagnostics& diagnostics() const noexcept { return document_->diagnostics(); }
  void error(const std::string& message) const;
  void warning(const std::string& message) const;
  // "limit: expected a number, found "abc"", at this position, and a hint behind it.
  void expected(std::string_view what, std::string_view hint = {}) const;

  // A text, number or word; never empty.
  [[nodiscard]] std::optional<std::string_view> text() const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::optional<bool> boolean() const;  // true, yes, on and their opposites
  // "10ms", "5s", "2m", "1h", "7d"
  [[nodiscard]] std::optional<Duration> duration(Duration least, Duration most) const;
  // One of these words.
  template <class Value>
  [[nodiscard]] std::optional<Value> choice(
      const std::vector<std::pair<std::string_view, Value>>& words) const {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : words) {
      if (is_text() && raw() == name) return value;
      names.push_back(name);
    }
    expected_one_of(names);
    return std::nullopt;
  }
  // The items of a list; empty and reported otherwise.
  [[nodiscard]] std::vector<YamlNode> list() const;
  // The same; a text or map is a list of one.
  [[nodiscard]] std::vector<YamlNode> one_or_list() const;
  // The keys and values of a map. Duplicate keys and keys that are not texts are reported and
  // skipped.
  [[nodiscard]] std::vector<YamlEntry> entries() const;
  // The value of a key, and all values of a map; these report nothing.
  [[nodiscard]] std::optional<YamlNode> peek(std::string_view key) const;
  [[nodiscard]] std::vector<YamlNode> peek_values() const;

 private:
  YamlNode(const YamlDocument& document, std::uint32_t index, std::string_view label)
      : document_(&document), item_(&document.item(index)), label_(label) {}
  [[nodiscard]] std::string found() const;
  void expected_one_of(std::span<const std::string_view> names) const;
  [[nodiscard]] std::vector<YamlNode> items() const;

  const YamlDocument* document_;
  const YamlItem* item_;
  std::string_view label_;
};

struct YamlEntry {
  YamlNode key;
  YamlNode value;
};

// A map with known keys. Unknown keys are reported, with a suggestion.
class YamlFields {
 public:
  YamlFields(const YamlNode& map, std::span<const std::string_view> known);

  // Empty when the key is missing.
  [[nodiscard]] std::optional<YamlNode> find(std::string_view key) const;
  // The same; a missing key is reported.
  [[nodiscard]] std::optional<YamlNode> require(std::string_view key) const;
  [[nodiscard]] const YamlNode& map() const noexcept { return map_; }

  // These read a key into a member, which keeps its value when the key is missing or invalid.
  template <class Number>
  void read_number(std::string_view key, std::int64_t least, std::int64_t most,
                   Number& number) const {
    const auto node = find(key);
    const auto value = node ? node->integer(least, most) : std::nullopt;
    if (value) number = static_cast<Number>(*value);
  }
  void read_boolean(std::string_view key, bool& flag) const;
  void read_text(std::string_view key, std::string& text) const;

 protected:
  explicit YamlFields(const YamlNode& map) : map_(map) {}
  void keep(const YamlEntry& entry) { entries_.push_back(entry); }

 private:
  YamlNode map_;
  std::vector<YamlEntry> entries_;
};

}  // namespace penstock::rules
