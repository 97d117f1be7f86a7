#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::resp {

// Writes one command as an array of strings. Their number must be known beforehand.
//
//     resp::CommandWriter(3).add("SET").add(key).add(value).take()
class CommandWriter {
 public:
  // `text_size` of all parts together, if known, saves allocations.
  explicit CommandWriter(std::size_t parts, std::size_t text_size = 0);

  CommandWriter& add(std::string_view part);
  CommandWriter& add_number(std::int64_t number);

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

[[nodiscard]] std::string command(std::initializer_list<std::string_view> parts);

}  // namespace penstock::resp
