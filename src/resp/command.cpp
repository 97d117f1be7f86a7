#include "resp/command.hpp"

#include <array>
#include <charconv>

namespace penstock::resp {
namespace {

// Bytes around a part of less than a kilobyte: "$200\r\n" and "\r\n".
constexpr std::size_t kMostAround = 8;

void append_header(std::string& bytes, char kind, std::size_t number) {
  std::array<char, 24> header{kind};
  char* end = std::to_chars(header.data() + 1, header.data() + header.size() - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  bytes.append(header.data(), end);
}

}  // namespace

CommandWriter::CommandWriter(std::size_t parts, std::size_t text_size) {
  bytes_.reserve(text_size + (parts + 1) * kMostAround);
  append_header(bytes_, '*', parts);
}

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
