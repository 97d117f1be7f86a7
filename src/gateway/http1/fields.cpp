#include "gateway/http1/fields.hpp"

#include <algorithm>
#include <array>

namespace penstock::gateway {
namespace {

bool is_token_character(char letter) noexcept {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const char small = lower(letter);
  return (small >= 'a' && small <= 'z') || (letter >= '0' && letter <= '9') ||
         kMarks.find(letter) != std::string_view::npos;
}

using namespace std::string_view_literals;

bool is_one_of(std::string_view name, std::span<const std::string_view> words) noexcept {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return equals_lower_case(name, word); });
}

bool is_always_hop_by_hop(std::string_view name) noexcept {
  constexpr std::array kWords{"connection"sv,        "keep-alive"sv, "proxy-connection"sv,
                              "transfer-encoding"sv, "te"sv,         "upgrade"sv,
                              "http2-settings"sv};
  // First letters of these names: rejects most fields early.
  constexpr std::string_view kFirst = "ckpthu";
  return !name.empty() && kFirst.find(lower(name.front())) != std::string_view::npos &&
         is_one_of(name, kWords);
}

// Fields that must be forwarded, even when Connection names them.
bool is_required(std::string_view name) noexcept {
  constexpr std::array kWords{"host"sv,
                              "content-length"sv,
                              "content-type"sv,
                              "date"sv,
                              "authorization"sv,
                              "cookie"sv,
                              "expect"sv,
                              "x-real-ip"sv,
                              "forwarded"sv,
                              "via"sv,
                              "x-forwarded-for"sv,
                              "x-forwarded-host"sv,
                              "x-forwarded-proto"sv};
  return is_one_of(name, kWords);
}

// REQUIRES: `lower_case` is in lower case.
bool same_with_underscores(std::string_view name, std::string_view lower_case) noexcept {
  if (name.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char letter = name[i] == '_' ? '-' : lower(name[i]);
    if (letter != lower_case[i]) return false;
  }
  return true;
}

// More names than legitimate clients send.
constexpr std::size_t kMaxNamed = 32;

}  // namespace

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

HopByHop::HopByHop(std::span<const Field> fields) {
  for (const Field& field : fields) {
    if (field.name.size() != 10 || !equals_lower_case(field.name, "connection")) continue;
    for_each_item(field.value, [&](std::string_view item) { named_.push_back(item); });
  }
}

bool HopByHop::has(std::string_view name) const noexcept {
  if (is_always_hop_by_hop(name)) return true;
  if (named_.empty()) return false;
  const auto is_same = [&](std::string_view word) { return equals_ignoring_case(word, name); };
  return std::any_of(named_.begin(), named_.end(), is_same) && !is_required(name);
}

bool HopByHop::names(std::string_view word) const noexcept {
  return std::any_of(named_.begin(), named_.end(),
                     [&](std::string_view item) { return equals_lower_case(item, word); });
}

bool HopByHop::names_required_field() const noexcept {
  return named_.size() > kMaxNamed || std::any_of(named_.begin(), named_.end(), is_required);
}

bool is_origin_field(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "x-forwarded-";
  if (name.size() < 9) return false;
  const char first = lower(name.front());
  if (first == 'f') return equals_lower_case(name, "forwarded");
  if (first != 'x') return false;
  return same_with_underscores(name.substr(0, kPrefix.size()), kPrefix) ||
         same_with_underscores(name, "x-real-ip");
}

bool overrides_target(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 7> kWords{
      "x-original-url", "x-original-uri", "x-original-host", "x-original-method", "x-rewrite-url",
      "x-rewrite-uri",  "proxy"};
  const char first = name.empty() ? ' ' : lower(name.front());
  return (first == 'x' || first == 'p') &&
         std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return same_with_underscores(name, word); });
}

bool is_forbidden_trailer(std::string_view name) noexcept {
  constexpr std::array kWords{"content-length"sv,
                              "content-encoding"sv,
                              "content-type"sv,
                              "content-range"sv,
                              "host"sv,
                              "authorization"sv,
                              "cookie"sv,
                              "set-cookie"sv,
                              "expect"sv,
                              "max-forwards"sv,
                              "cache-control"sv,
                              "age"sv,
                              "proxy-authorization"sv,
                              "via"sv,
                              "trailer"sv};
  return is_origin_field(name) || overrides_target(name) || is_always_hop_by_hop(name) ||
         is_one_of(name, kWords);
}

}  // namespace penstock::gateway
