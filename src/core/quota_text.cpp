// Quotas as people write them. Grammar, blanks free between words:
//
//     limit   = number ( "/" | "per" ) [ number ] unit { option }
//     option  = "burst" [ ":" | "=" ] number | algorithm | "sub_windows" [ ":" | "=" ] number
//     number  = digits, "_" allowed between them
//     unit    = ms | s | m | h | d | w, or the English word, singular or plural
#include "penstock/quota.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace penstock {
namespace {

struct Period {
  Duration length;
  std::array<std::string_view, 4> names;  // the first is canonical; unused ones are empty
};

constexpr std::array kUnits{
    Period{Days{7}, {"w", "week", "weeks"}},
    Period{Days{1}, {"d", "day", "days"}},
    Period{std::chrono::hours{1}, {"h", "hour", "hours"}},
    Period{std::chrono::minutes{1}, {"m", "min", "minute", "minutes"}},
    Period{std::chrono::seconds{1}, {"s", "sec", "second", "seconds"}},
    Period{std::chrono::milliseconds{1}, {"ms", "millisecond", "milliseconds"}},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<QuotaSpec> parse() {
    QuotaSpec spec;
    const Result<std::int64_t> limit = number("a limit such as 100");
    if (!limit) return limit.error();
    spec.limit = *limit;
    if (!skip('/') && !skip_word("per")) return expected("\"/\" and a period, as in 100/minute");
    const Result<Duration> length = period();
    if (!length) return length.error();
    spec.period = *length;
    while (!at_end()) {
      const Result<void> read = option(spec);
      if (!read) return read.error();
    }
    return spec;
  }

 private:
  void skip_blanks() {
    while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
  }

  bool at_end() {
    skip_blanks();
    return position_ == text_.size();
  }

  bool skip(char wanted) {
    if (at_end() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }

  std::string_view peek_word() {
    skip_blanks();
    std::size_t end = position_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    return text_.substr(position_, end - position_);
  }

  bool skip_word(std::string_view wanted) {
    if (peek_word() != wanted) return false;
    position_ += wanted.size();
    return true;
  }

  Error error(const std::string& what) const {
    return {ErrorCode::InvalidInput, "\"" + std::string(text_) + "\", column " +
                                         std::to_string(position_ + 1) + ": " + what};
  }

  Error expected(const std::string& what) {
    skip_blanks();
    const std::string found =
        position_ == text_.size() ? "the end" : "\"" + std::string(text_.substr(position_)) + "\"";
    return error("expected " + what + ", found " + found);
  }

  bool separates_digits(std::size_t at) const {
    return text_[at] == '_' && at > 0 && is_digit(text_[at - 1]) && at + 1 < text_.size() &&
           is_digit(text_[at + 1]);
  }

  Result<std::int64_t> number(const std::string& what) {
    skip_blanks();
    std::string digits;
    std::size_t end = position_;
    if (end < text_.size() && text_[end] == '-') digits += text_[end++];
    while (end < text_.size() && (is_digit(text_[end]) || separates_digits(end))) {
      if (text_[end] != '_') digits += text_[end];
      ++end;
    }
    std::int64_t value = 0;
    const auto [stop, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failure == std::errc::result_out_of_range) {
      return error("number " + digits + " is too large");
    }
    if (failure != std::errc{} || stop != digits.data() + digits.size()) return expected(what);
    position_ = end;
    return value;
  }

  Result<Duration> period() {
    skip_blanks();
    std::int64_t count = 1;
    if (position_ < text_.size() && (is_digit(text_[position_]) || text_[position_] == '-')) {
      const Result<std::int64_t> given = number("a period such as 30s");
      if (!given) return given.error();
      count = *given;
    }
    const std::string_view word = peek_word();
    if (word.empty()) return expected("a unit: ms, s, m, h, d or w");
    for (const Period& unit : kUnits) {
      if (std::ranges::find(unit.names, word) == unit.names.end()) continue;
      // beyond this the product would not fit; well below, Quota::make rejects it with the reason
      const std::int64_t most = Duration::max() / unit.length;
      if (count > most || count < -most) {
        return error("period " + std::to_string(count) + " is too large");
      }
      position_ += word.size();
      return count * unit.length;
    }
    if (word.starts_with("month") || word.starts_with("year")) {
      return error("a \"" + std::string(word) +
                   "\" has no fixed length; write days, as in 30d or 365d");
    }
    return error("unknown unit \"" + std::string(word) + "\"; use ms, s, m, h, d or w");
  }

  Result<void> option(QuotaSpec& spec) {
    const std::string_view word = peek_word();
    if (word == "burst") {
      if (spec.capacity) return error("a second burst");
      const Result<std::int64_t> tokens = option_value(word, "a number after burst");
      if (!tokens) return tokens.error();
      spec.capacity = *tokens;
      return {};
    }
    const Result<Algorithm> algorithm = parse_algorithm(word);
    if (!algorithm) return expected("burst or an algorithm such as sliding_log");
    if (algorithm_given_) return error("a second algorithm");
    algorithm_given_ = true;
    spec.algorithm = *algorithm;
    if (*algorithm != Algorithm::SubWindows || !value_follows(word)) {
      position_ += word.size();
      return {};
    }
    const Result<std::int64_t> parts = option_value(word, "a number after sub_windows");
    if (!parts) return parts.error();
    spec.sub_window_count = *parts;
    return {};
  }

  bool value_follows(std::string_view word) const {
    std::size_t next = position_ + word.size();
    while (next < text_.size() && is_blank(text_[next])) ++next;
    return next < text_.size() && (is_digit(text_[next]) || text_[next] == '-' ||
                                   text_[next] == ':' || text_[next] == '=');
  }

  Result<std::int64_t> option_value(std::string_view word, const std::string& what) {
    position_ += word.size();
    if (!skip(':')) static_cast<void>(skip('='));
    return number(what);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  bool algorithm_given_ = false;
};

std::string period_text(Duration period) {
  for (const Period& unit : kUnits) {
    if (period % unit.length != Duration{0}) continue;
    const std::int64_t count = period / unit.length;
    return (count == 1 ? "" : std::to_string(count)) + std::string(unit.names.front());
  }
  return std::to_string(period.count()) + "us";
}

}  // namespace

Result<QuotaSpec> QuotaSpec::parse(std::string_view text) { return Parser(text).parse(); }

std::string to_string(const Quota& quota) {
  std::string text = std::to_string(quota.limit()) + "/" + period_text(quota.period());
  if (quota.is_bucket() && quota.capacity() != quota.limit()) {
    text += " burst " + std::to_string(quota.capacity());
  }
  if (quota.algorithm() != Algorithm::TokenBucket) {
    text += " " + std::string(to_string(quota.algorithm()));
  }
  if (quota.algorithm() == Algorithm::SubWindows &&
      quota.sub_window_count() != QuotaSpec::kDefaultSubWindows) {
    text += " " + std::to_string(quota.sub_window_count());
  }
  return text;
}

}  // namespace penstock
