#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::resp {

// One reply of a Redis server, or one part of it.
struct Value {
  enum class Type : std::uint8_t { Nil, Integer, String, Status, Error, Array };

  Type type = Type::Nil;
  std::int64_t integer = 0;       // of Integer
  std::string text{};             // of String, Status and Error, without the leading "-"
  std::vector<Value> elements{};  // of Array

  [[nodiscard]] bool is(Type wanted) const noexcept { return type == wanted; }
};

}  // namespace penstock::resp
