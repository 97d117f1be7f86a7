#pragma once

#include "rules/yaml/text_file.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <string>

// Reads options into the members they are for, which stay as they are when there is none.
namespace penstock::rules {

inline constexpr Duration kMaxTimeout = std::chrono::hours{24};

template <class Number>
void read_number(const YamlFields& fields, std::string_view key, std::int64_t least,
                 std::int64_t most, Number& number) {
  const auto node = fields.find(key);
  if (!node) return;
  if (const auto value = node->integer(least, most)) number = static_cast<Number>(*value);
}

inline void read_duration(const YamlFields& fields, std::string_view key, Duration most,
                          Duration& duration) {
  const auto node = fields.find(key);
  if (!node) return;
  if (const auto value = node->duration(std::chrono::milliseconds{1}, most)) duration = *value;
}

inline void read_boolean(const YamlFields& fields, std::string_view key, bool& flag) {
  const auto node = fields.find(key);
  if (!node) return;
  if (const auto value = node->boolean()) flag = *value;
}

inline void read_text(const YamlFields& fields, std::string_view key, std::string& text) {
  const auto node = fields.find(key);
  if (!node) return;
  if (const auto value = node->text()) text = *value;
}

// A path, meant from where the configuration is.
inline void read_path(const YamlFields& fields, std::string_view key, std::string& path) {
  const auto node = fields.find(key);
  if (!node) return;
  if (const auto value = node->text()) path = resolve_relative_to(node->file(), *value).string();
}

}  // namespace penstock::rules
