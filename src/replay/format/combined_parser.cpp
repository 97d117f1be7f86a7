#include "replay/format/combined_parser.hpp"

#include "base/ip_address.hpp"
#include "base/text.hpp"
#include "replay/format/log_time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace penstock::replay {
namespace {

// The end of a quoted text that starts here: the first quote that is not escaped.
std::size_t closing_quote(std::string_view text) {
  std::size_t at = text.find('"');
  while (at != std::string_view::npos) {
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at;
    at = text.find('"', at + 1);
  }
  return at;
}

// Takes a field in quotes from the front; empty when there is none.
std::optional<std::string_view> take_quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  const std::size_t end = closing_quote(rest.substr(1));
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = rest.substr(1, end);
  rest.remove_prefix(end + 2);
  return text;
}

std::string_view plain_text(std::string_view text, LogRecord& record) {
  if (text.find('\\') == std::string_view::npos) return text;
  return record.keep(unescaped_log_text(text));
}

bool is_token(std::string_view text) {
  for (const char letter : text) {
    const bool is_letter = (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
    const bool is_other = (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' ||
                          letter == '.' || letter == '!' || letter == '*';
    if (!is_letter && !is_other) return false;
  }
  return !text.empty();
}

// "GET /a?b HTTP/1.1". The target may have blanks, which servers log as they came.
bool split_request(std::string_view request, LogRecord& record) {
  const std::size_t first = request.find(' ');
  if (first == std::string_view::npos || !is_token(request.substr(0, first))) return false;
  std::string_view target = request.substr(first + 1);
  const std::size_t last = target.rfind(' ');
  if (last != std::string_view::npos && target.substr(last + 1).starts_with("HTTP/")) {
    target = target.substr(0, last);
  }
  if (target.empty()) return false;
  record.method = request.substr(0, first);
  record.target = target;
  return true;
}

void add_header(LogRecord& record, std::string_view name, std::string_view value) {
  if (value == "-") return;
  record.others.push_back({.name = name, .value = plain_text(value, record)});
}

// "example.com:443": a name, or an IPv4 address, and a port.
bool has_port(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos &&
         base::parse_number<std::uint16_t>(text.substr(colon + 1)).has_value();
}

// "192.0.2.7 - alice", or Apache's vhost_combined, "example.com:443 192.0.2.7 - alice". The second
// field of the former is the answer of an ident server, which is never an address.
void read_client(std::string_view fields, LogRecord& record) {
  const std::size_t blank = std::min(fields.find(' '), fields.size());
  std::string_view client = fields.substr(0, blank);
  if (blank < fields.size()) {
    const std::string_view rest = fields.substr(blank + 1);
    const std::string_view second = rest.substr(0, rest.find(' '));
    if (second != "-" && (has_port(client) || base::IpAddress::parse(second))) {
      record.host = client;
      client = second;
    }
  }
  if (client != "-") record.client_ip = client;
}

// Status and size, then referer and user agent, which the common format lacks.
void read_headers(std::string_view rest, LogRecord& record) {
  const std::size_t quote = rest.find('"');
  if (quote == std::string_view::npos) return;
  rest.remove_prefix(quote);
  const auto referer = take_quoted(rest);
  if (!referer || !rest.starts_with(' ')) return;
  rest.remove_prefix(1);
  const auto agent = take_quoted(rest);
  if (!agent) return;
  add_header(record, "header.referer", *referer);
  add_header(record, "header.user-agent", *agent);
}

char control_character(char letter) {
  switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return letter;
  }
}

}  // namespace

std::string unescaped_log_text(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    ++i;
    const auto byte = text[i] == 'x' && i + 2 < text.size()
                          ? base::parse_number<unsigned>(text.substr(i + 1, 2), 16)
                          : std::nullopt;
    if (byte) {
      plain += static_cast<char>(*byte);
      i += 2;
    } else {
      plain += control_character(text[i]);
    }
  }
  return plain;
}

LineOutcome CombinedParser::parse(std::string_view line, LogRecord& record) {
  // the time is before the first quote: quotes of a user name are escaped, brackets are not
  const std::size_t bracket = line.substr(0, line.find(" \"")).rfind(" [");
  if (bracket == std::string_view::npos) return LineOutcome::malformed("no [time] in brackets");
  read_client(line.substr(0, bracket), record);
  line.remove_prefix(bracket + 2);
  if (line.size() <= kCombinedTimeLength || line[kCombinedTimeLength] != ']' ||
      !read_time(line.substr(0, kCombinedTimeLength), record.time)) {
    return LineOutcome::malformed("the time is not like [10/Oct/2026:13:55:36 +0200]");
  }
  line.remove_prefix(kCombinedTimeLength + 1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  const auto request = take_quoted(line);
  if (!request) return LineOutcome::malformed("no \"request\" in quotes after the time");
  if (!split_request(plain_text(*request, record), record)) {
    return LineOutcome::other("the client sent no HTTP request");
  }
  read_headers(line, record);
  return {};
}

bool CombinedParser::read_time(std::string_view text, Instant& time) {
  if (text != last_text_) {
    const std::optional<Instant> parsed = parse_log_time(text);
    if (!parsed) return false;
    last_text_ = text;
    last_time_ = *parsed;
  }
  time = last_time_;
  return true;
}

}  // namespace penstock::replay
