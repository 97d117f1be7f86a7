#include "resp/command.hpp"

#include <array>
#include <charconv>

namespace penstock::resp {
namespace {

void append_header(std::string& bytes, char kind, std::size_t number) {
  std::array<char, 24> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  bytes += kind;
  bytes.append(digits.data(), end);
  bytes += "\r\n";
}

}  // namespace

CommandWriter::CommandWriter(std::size_t parts) { append_header(bytes_, '*', parts); }

CommandWriter& CommandWriter::add(std::string_view part) {
  append_header(bytes_, '$', part.size());
  bytes_ += part;
  bytes_ += "\r\n";
  return *this;
}

CommandWriter& CommandWriter::add_number(std::int64_t number) {
  std::array<char, 24> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return add({digits.data(), end});
}

std::string command(std::initializer_list<std::string_view> parts) {
  CommandWriter writer(parts.size());
  for (const std::string_view part : parts) writer.add(part);
  return std::move(writer).take();
}

}  // namespace penstock::resp
