#pragma once

#include "rules/yaml/yaml_reader.hpp"

#include <string>

// Reads keys into members. A member keeps its value when the key is missing.
namespace penstock::rules {

template <class Number>
void read_number(const YamlFields& fields, std::string_view key, std::int64_t least,
                 std::int64_t most, Number& number) {
  const auto node = fields.find(key);
  if (!node) return;
  if (const auto value = node->integer(least, most)) number = static_cast<Number>(*value);
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

}  // namespace penstock::rules
