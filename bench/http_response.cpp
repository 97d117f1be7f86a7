#include "bench/http_response.hpp"

#include <algorithm>
#include <charconv>

namespace penstock::bench {
namespace {

constexpr std::size_t kLongestHead = std::size_t{64} * 1024;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size();
}

}  // namespace

HttpRead read_response(std::string_view bytes) {
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string_view::npos) {
    return {.state = bytes.size() > kLongestHead ? ReadState::Malformed : ReadState::Incomplete};
  }
  HttpRead read{.state = ReadState::Malformed};
  std::string_view head = bytes.substr(0, head_end + 2);
  if (!head.starts_with("HTTP/1.") || head.size() < 14) return read;
  if (!read_number(head.substr(9, 3), read.response.status)) return read;
  std::size_t length = 0;
  head.remove_prefix(head.find("\r\n") + 2);
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(line.size() + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return read;
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    if (equal_ignoring_case(name, "content-length") && !read_number(value, length)) return read;
    if (equal_ignoring_case(name, "connection")) {
      read.response.closes = equal_ignoring_case(value, "close");
    }
  }
  if (read.response.status == 204 || read.response.status == 304) length = 0;
  read.response.bytes = head_end + 4 + length;
  read.state = bytes.size() >= read.response.bytes ? ReadState::Complete : ReadState::Incomplete;
  return read;
}

}  // namespace penstock::bench
