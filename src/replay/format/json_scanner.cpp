#include "replay/format/json_scanner.hpp"

#include "base/text.hpp"

#include <cstdint>
#include <optional>

namespace penstock::replay {
namespace {

bool is_literal_letter(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || letter == '-' ||
         letter == '+' || letter == '.' || letter == 'E';
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6U);
    add(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12U);
    add(0x80 | (code >> 6U & 0x3FU));
    add(0x80 | (code & 0x3FU));
  } else {
    add(0xF0 | code >> 18U);
    add(0x80 | (code >> 12U & 0x3FU));
    add(0x80 | (code >> 6U & 0x3FU));
    add(0x80 | (code & 0x3FU));
  }
}

// The number of "u00e9" at this place.
std::optional<std::uint32_t> code_unit(std::string_view text, std::size_t at) {
  if (at + 5 > text.size() || text[at] != 'u') return std::nullopt;
  return base::parse_number<std::uint32_t>(text.substr(at + 1, 4), 16);
}

constexpr std::uint32_t kReplacement = 0xFFFD;

// Decodes "uXXXX", perhaps a pair of them, and returns its length.
std::size_t append_unicode(std::string& out, std::string_view text, std::size_t at) {
  const auto first = code_unit(text, at);
  if (!first) {
    append_utf8(out, kReplacement);
    return 1;
  }
  if (*first < 0xD800 || *first > 0xDFFF) {
    append_utf8(out, *first);
    return 5;
  }
  const bool has_next = at + 5 < text.size() && text[at + 5] == '\\';
  const auto second = has_next ? code_unit(text, at + 6) : std::nullopt;
  if (*first > 0xDBFF || !second || *second < 0xDC00 || *second > 0xDFFF) {
    append_utf8(out, kReplacement);
    return 5;
  }
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
  return 11;
}

}  // namespace

std::string unescaped_json(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    ++i;
    switch (text[i]) {
      case 'b': plain += '\b'; break;
      case 'f': plain += '\f'; break;
      case 'n': plain += '\n'; break;
      case 'r': plain += '\r'; break;
      case 't': plain += '\t'; break;
      case 'u': i += append_unicode(plain, text, i) - 1; break;
      default: plain += text[i];
    }
  }
  return plain;
}

bool JsonScanner::scan(std::string_view text, Visitor& visitor) {
  rest_ = text;
  path_.clear();
  visitor_ = &visitor;
  skip_blanks();
  if (!rest_.starts_with('{') || !scan_value(0)) return false;
  skip_blanks();
  return rest_.empty();
}

// NOLINTNEXTLINE(misc-no-recursion): kMaxDepth bounds it
bool JsonScanner::scan_value(std::size_t depth) {
  skip_blanks();
  if (rest_.empty() || depth > kMaxDepth) return false;
  if (rest_.front() == '{') return scan_object(depth);
  if (rest_.front() == '[') return scan_list(depth);
  if (rest_.front() != '"') return scan_literal();
  const StringToken token = take_string();
  if (token.ok) visitor_->on_value(path_, token.text, token.is_escaped);
  return token.ok;
}

// NOLINTNEXTLINE(misc-no-recursion): kMaxDepth bounds it
bool JsonScanner::scan_object(std::size_t depth) {
  if (!take('{')) return false;
  skip_blanks();
  if (take('}')) return true;
  while (true) {
    if (!scan_member(depth)) return false;
    skip_blanks();
    if (take('}')) return true;
    if (!take(',')) return false;
  }
}

// NOLINTNEXTLINE(misc-no-recursion): kMaxDepth bounds it
bool JsonScanner::scan_member(std::size_t depth) {
  skip_blanks();
  const StringToken name = take_string();
  skip_blanks();
  if (!name.ok || !take(':')) return false;
  const std::size_t length = path_.size();
  if (length > 0) path_ += '.';
  name.is_escaped ? path_.append(unescaped_json(name.text)) : path_.append(name.text);
  const bool ok = scan_value(depth + 1);
  path_.resize(length);
  return ok;
}

// NOLINTNEXTLINE(misc-no-recursion): kMaxDepth bounds it
bool JsonScanner::scan_list(std::size_t depth) {
  if (!take('[')) return false;
  skip_blanks();
  if (take(']')) return true;
  while (true) {
    if (!scan_value(depth + 1)) return false;
    skip_blanks();
    if (take(']')) return true;
    if (!take(',')) return false;
  }
}

bool JsonScanner::scan_literal() {
  std::size_t length = 0;
  while (length < rest_.size() && is_literal_letter(rest_[length])) ++length;
  const std::string_view text = rest_.substr(0, length);
  rest_.remove_prefix(length);
  if (text == "null") return true;
  if (text != "true" && text != "false" && !is_number(text)) return false;
  visitor_->on_value(path_, text, false);
  return true;
}

JsonScanner::StringToken JsonScanner::take_string() {
  if (!take('"')) return {};
  bool is_escaped = false;
  for (std::size_t at = 0; at < rest_.size(); ++at) {
    if (rest_[at] == '\\') {
      is_escaped = true;
      ++at;
    } else if (rest_[at] == '"') {
      const StringToken token{.text = rest_.substr(0, at), .is_escaped = is_escaped, .ok = true};
      rest_.remove_prefix(at + 1);
      return token;
    }
  }
  return {};
}

bool JsonScanner::take(char letter) {
  if (!rest_.starts_with(letter)) return false;
  rest_.remove_prefix(1);
  return true;
}

void JsonScanner::skip_blanks() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
}

}  // namespace penstock::replay
