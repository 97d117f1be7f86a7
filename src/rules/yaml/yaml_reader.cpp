#include "rules/yaml/yaml_reader.hpp"

#include "base/text.hpp"
#include "core/duration_text.hpp"
#include "rules/yaml/diagnostic.hpp"

#include <algorithm>
#include <unordered_map>

namespace penstock::rules {

void YamlNode::error(const std::string& message) const {
  document_->report(Diagnostic::Severity::Error, position(), message);
}

void YamlNode::warning(const std::string& message) const {
  document_->report(Diagnostic::Severity::Warning, position(), message);
}

std::string YamlNode::found() const {
  switch (kind()) {
    case YamlKind::Nothing: return "nothing";
    case YamlKind::Text: return quote_value(raw());
    case YamlKind::List: return "a list";
    case YamlKind::Map: return "a map";
  }
  return {};
}

void YamlNode::expected(std::string_view what, std::string_view hint) const {
  const std::string prefix = label_.empty() ? std::string{} : std::string(label_) + ": ";
  error(prefix + "expected " + std::string(what) + ", found " + found() + std::string(hint));
}

void YamlNode::expected_one_of(std::span<const std::string_view> names) const {
  std::string text = names.size() > 2 ? "one of " : "";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  expected(text, is_text() ? suggestion(raw(), names) : std::string{});
}

std::optional<std::string_view> YamlNode::text() const {
  if (is_text() && !raw().empty()) return raw();
  expected("a text");
  return std::nullopt;
}

std::optional<std::int64_t> YamlNode::integer(std::int64_t least, std::int64_t most) const {
  if (is_text() && !is_quoted()) {
    std::string digits;
    for (const char c : raw()) {
      if (c != '_' || digits.empty()) digits += c;
    }
    const std::optional<std::int64_t> value = base::parse_number<std::int64_t>(digits);
    if (value && *value >= least && *value <= most) return value;
  }
  expected("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<bool> YamlNode::boolean() const {
  if (is_text() && !is_quoted()) {
    for (const std::string_view word : {"true", "yes", "on", "True", "TRUE"}) {
      if (raw() == word) return true;
    }
    for (const std::string_view word : {"false", "no", "off", "False", "FALSE"}) {
      if (raw() == word) return false;
    }
  }
  expected("true or false");
  return std::nullopt;
}

std::optional<Duration> YamlNode::duration(Duration least, Duration most) const {
  if (is_text()) {
    const std::optional<Duration> value = core::parse_duration(raw());
    if (value && *value >= least && *value <= most) return value;
  }
  expected("a time such as 250ms, 10s, 5m, 2h or 1d, from " + core::duration_text(least) + " to " +
           core::duration_text(most));
  return std::nullopt;
}

std::vector<YamlNode> YamlNode::items() const {
  std::vector<YamlNode> nodes;
  nodes.reserve(item_->children.size());
  for (const std::uint32_t child : item_->children) {
    nodes.push_back(YamlNode(*document_, child, label_));
  }
  return nodes;
}

std::vector<YamlNode> YamlNode::list() const {
  if (is_list()) return items();
  expected("a list");
  return {};
}

std::vector<YamlNode> YamlNode::one_or_list() const {
  if (is_list()) return items();
  if (!is_nothing()) return {*this};
  expected("a value or a list");
  return {};
}

std::vector<YamlEntry> YamlNode::entries() const {
  std::vector<YamlEntry> entries;
  if (!is_map()) {
    expected("a map");
    return entries;
  }
  std::unordered_map<std::string_view, Position> seen;
  for (std::size_t i = 0; i + 1 < item_->children.size(); i += 2) {
    const YamlNode key(*document_, item_->children[i], label_);
    if (!key.is_text() || key.raw().empty()) {
      key.expected("a text as key");
      continue;
    }
    const auto [first, is_new] = seen.emplace(key.raw(), key.position());
    if (!is_new) {
      key.error("key " + quote_value(key.raw(), '\'') + " a second time; first in line " +
                std::to_string(first->second.line));
      continue;
    }
    entries.push_back({key, YamlNode(*document_, item_->children[i + 1], key.raw())});
  }
  return entries;
}

std::optional<YamlNode> YamlNode::peek(std::string_view key) const {
  if (!is_map()) return std::nullopt;
  for (std::size_t i = 0; i + 1 < item_->children.size(); i += 2) {
    const YamlItem& name = document_->item(item_->children[i]);
    if (name.kind == YamlKind::Text && name.text == key) {
      return YamlNode(*document_, item_->children[i + 1], key);
    }
  }
  return std::nullopt;
}

std::vector<YamlNode> YamlNode::peek_values() const {
  std::vector<YamlNode> values;
  for (std::size_t i = 1; is_map() && i < item_->children.size(); i += 2) {
    values.push_back(YamlNode(*document_, item_->children[i], label_));
  }
  return values;
}

YamlFields::YamlFields(const YamlNode& map, std::span<const std::string_view> known) : map_(map) {
  for (const YamlEntry& entry : map.entries()) {
    const std::string_view name = entry.key.raw();
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      keep(entry);
    } else {
      entry.key.error("unknown key " + quote_value(name, '\'') + suggestion(name, known));
    }
  }
}

std::optional<YamlNode> YamlFields::find(std::string_view key) const {
  for (const YamlEntry& entry : entries_) {
    if (entry.key.raw() == key) return entry.value;
  }
  return std::nullopt;
}

std::optional<YamlNode> YamlFields::require(std::string_view key) const {
  std::optional<YamlNode> node = find(key);
  if (!node && map_.is_map()) map_.error("key '" + std::string(key) + "' is missing");
  return node;
}

void YamlFields::read_boolean(std::string_view key, bool& flag) const {
  if (const auto node = find(key)) flag = node->boolean().value_or(flag);
}

void YamlFields::read_text(std::string_view key, std::string& text) const {
  const auto node = find(key);
  const auto value = node ? node->text() : std::nullopt;
  if (value) text = *value;
}

}  // namespace penstock::rules
