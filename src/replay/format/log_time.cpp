#include "replay/format/log_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace penstock::replay {
namespace {

// Takes a time apart from left to right; `ok` is false after the first mismatch.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  unsigned digits(std::size_t count) {
    unsigned number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const char letter = i < rest_.size() ? rest_[i] : ' ';
      if (letter < '0' || letter > '9') {
        ok_ = false;
        return 0;
      }
      number = number * 10 + static_cast<unsigned>(letter - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }
  void expect(char letter) {
    if (!take(letter)) ok_ = false;
  }
  bool take(char letter) {
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Digits of a fraction of a second; those beyond a microsecond are dropped.
  std::int64_t fraction() {
    std::int64_t micros = 0;
    std::int64_t unit = 100'000;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      micros += unit * (rest_.front() - '0');
      unit /= 10;
      rest_.remove_prefix(1);
    }
    return micros;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return ok_ && rest_.empty(); }
  [[nodiscard]] bool is_empty() const noexcept { return rest_.empty(); }
  void fail() noexcept { ok_ = false; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

unsigned month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(kMonths.begin(), kMonths.end(), name);
  return found == kMonths.end() ? 0 : static_cast<unsigned>(found - kMonths.begin()) + 1;
}

struct Calendar {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
};

constexpr Instant kFirstInstant{Days{0}};
constexpr Instant kLastInstant{Days{84'006}};  // 2200-01-01

std::optional<Instant> in_range(Instant time) {
  if (time < kFirstInstant || time >= kLastInstant) return std::nullopt;
  return time;
}

std::optional<Instant> instant_of(const Calendar& at, std::int64_t micros, int zone_minutes) {
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(at.year)},
                                         std::chrono::month{at.month}, std::chrono::day{at.day}};
  // 60 is a leap second, which counts as the first second of the next minute
  if (!date.ok() || at.hour > 23 || at.minute > 59 || at.second > 60) return std::nullopt;
  return in_range(std::chrono::sys_days{date} + std::chrono::hours{at.hour} +
                  std::chrono::minutes{static_cast<int>(at.minute) - zone_minutes} +
                  std::chrono::seconds{at.second} + Duration{micros});
}

// "+0200", "+02:00" or "Z".
int zone_of(TimeReader& reader) {
  if (reader.take('Z') || reader.take('z')) return 0;
  const bool is_west = reader.take('-');
  if (!is_west) reader.expect('+');
  const unsigned hours = reader.digits(2);
  static_cast<void>(reader.take(':'));
  const unsigned minutes = reader.digits(2);
  if (hours > 23 || minutes > 59) reader.fail();
  const int offset = static_cast<int>(hours * 60 + minutes);
  return is_west ? -offset : offset;
}

std::optional<Instant> parse_combined_time(std::string_view text) {
  TimeReader reader(text);
  Calendar at;
  at.day = reader.digits(2);
  reader.expect('/');
  at.month = month_of(reader.take(std::size_t{3}));
  reader.expect('/');
  at.year = reader.digits(4);
  reader.expect(':');
  at.hour = reader.digits(2);
  reader.expect(':');
  at.minute = reader.digits(2);
  reader.expect(':');
  at.second = reader.digits(2);
  reader.expect(' ');
  const int zone = zone_of(reader);
  if (!reader.is_at_end()) return std::nullopt;
  return instant_of(at, 0, zone);
}

std::optional<Instant> parse_rfc3339(std::string_view text) {
  TimeReader reader(text);
  Calendar at;
  at.year = reader.digits(4);
  reader.expect('-');
  at.month = reader.digits(2);
  reader.expect('-');
  at.day = reader.digits(2);
  if (!reader.take('T') && !reader.take('t')) reader.expect(' ');
  at.hour = reader.digits(2);
  reader.expect(':');
  at.minute = reader.digits(2);
  reader.expect(':');
  at.second = reader.digits(2);
  std::int64_t micros = 0;
  if (reader.take('.') || reader.take(',')) micros = reader.fraction();
  const int zone = reader.is_empty() ? 0 : zone_of(reader);
  if (!reader.is_at_end()) return std::nullopt;
  return instant_of(at, micros, zone);
}

// The size tells the unit: 10^11 seconds is the year 5138, as milliseconds 1973.
std::optional<Instant> parse_epoch(std::string_view text) {
  std::uint64_t whole = 0;
  std::size_t length = 0;
  while (length < text.size() && text[length] >= '0' && text[length] <= '9') {
    if (++length > 19) return std::nullopt;
    whole = whole * 10 + static_cast<std::uint64_t>(text[length - 1] - '0');
  }
  if (length == 0) return std::nullopt;
  std::int64_t fraction = 0;
  if (length < text.size()) {
    TimeReader reader(text.substr(length));
    reader.expect('.');
    fraction = reader.fraction();
    if (!reader.is_at_end()) return std::nullopt;
  }
  const auto number = static_cast<std::int64_t>(whole);
  if (whole < 100'000'000'000) return in_range(Instant{Duration{number * 1'000'000 + fraction}});
  if (whole < 100'000'000'000'000) {
    return in_range(Instant{Duration{number * 1000 + fraction / 1000}});
  }
  if (whole < 100'000'000'000'000'000) return in_range(Instant{Duration{number}});
  return in_range(Instant{Duration{number / 1000}});
}

}  // namespace

std::optional<Instant> parse_log_time(std::string_view text) {
  if (text.size() > 2 && text[2] == '/') return parse_combined_time(text);
  if (text.size() > 4 && text[4] == '-') return parse_rfc3339(text);
  return parse_epoch(text);
}

}  // namespace penstock::replay
