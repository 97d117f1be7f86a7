#include "telemetry/history.hpp"

#include <algorithm>

namespace penstock::telemetry {
namespace {

constexpr std::int64_t kTen = 10;

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

std::int64_t second_of(Instant at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

}  // namespace

RequestCounts operator+(const RequestCounts& a, const RequestCounts& b) noexcept {
  return {.admitted = a.admitted + b.admitted,
          .denied = a.denied + b.denied,
          .shadow_denied = a.shadow_denied + b.shadow_denied,
          .without_store = a.without_store + b.without_store};
}

RequestCounts operator-(const RequestCounts& a, const RequestCounts& b) noexcept {
  return {.admitted = less(a.admitted, b.admitted),
          .denied = less(a.denied, b.denied),
          .shadow_denied = less(a.shadow_denied, b.shadow_denied),
          .without_store = less(a.without_store, b.without_store)};
}

void add_series(CountSeries& sum, const CountSeries& other) {
  const auto offset = (other.from - sum.from) / sum.step;
  for (std::size_t i = 0; i < other.steps.size(); ++i) {
    const auto at = offset + static_cast<std::int64_t>(i);
    if (at < 0 || at >= static_cast<std::int64_t>(sum.steps.size())) continue;
    RequestCounts& step = sum.steps[static_cast<std::size_t>(at)];
    step = step + other.steps[i];
  }
}

CountSeries steps_after(const CountSeries& series, Instant since) {
  const auto passed = (since - series.from) / series.step;
  const auto skipped = static_cast<std::size_t>(
      std::clamp<std::int64_t>(passed, 0, static_cast<std::int64_t>(series.steps.size())));
  CountSeries rest{.step = series.step, .from = series.from + skipped * series.step};
  rest.steps.assign(series.steps.begin() + static_cast<std::ptrdiff_t>(skipped),
                    series.steps.end());
  return rest;
}

std::string_view to_string(MarkKind kind) noexcept {
  return kMarkKinds[static_cast<std::size_t>(kind)];
}

template <std::size_t kSize>
void History::Ring<kSize>::add(std::int64_t number, const RequestCounts& counts) {
  constexpr auto kLength = static_cast<std::int64_t>(kSize);
  if (newest < 0) newest = number - 1;
  // The clock stepped back: the newest step has it all.
  number = std::max(number, newest);
  for (std::int64_t next = std::max(newest + 1, number - kLength + 1); next <= number; ++next) {
    steps[static_cast<std::size_t>(next % kLength)] = {};
  }
  used = std::min(kSize, used + static_cast<std::size_t>(number - newest));
  newest = number;
  RequestCounts& step = steps[static_cast<std::size_t>(number % kLength)];
  step = step + counts;
}

template <std::size_t kSize>
CountSeries History::Ring<kSize>::series(std::chrono::seconds step, std::int64_t end) const {
  CountSeries series{.step = step};
  const std::int64_t first = newest + 1 - static_cast<std::int64_t>(used);
  series.from = Instant{first * step};
  for (std::int64_t number = first; number < std::min(end, newest + 1); ++number) {
    series.steps.push_back(
        steps[static_cast<std::size_t>(number % static_cast<std::int64_t>(kSize))]);
  }
  return series;
}

void History::sample(Instant now, const RequestCounts& totals) {
  const RequestCounts counts = is_first_ ? RequestCounts{} : totals - totals_;
  is_first_ = false;
  totals_ = totals;
  const std::int64_t second = second_of(now) - 1;
  seconds_.add(second, counts);
  tens_.add(seconds_.newest / kTen, counts);
}

void History::mark(Instant at, MarkKind kind, std::string_view text) {
  if (marks_.size() >= kMaxMarks) marks_.pop_front();
  marks_.push_back({.at = at, .kind = kind, .text = std::string(text.substr(0, kMaxMarkBytes))});
}

CountSeries History::series(Span span) const {
  const std::int64_t end = seconds_.newest + 1;
  if (span == Span::FiveMinutes) return seconds_.series(std::chrono::seconds{1}, end);
  return tens_.series(std::chrono::seconds{kTen}, end / kTen);
}

RequestCounts History::last_second() const {
  if (seconds_.newest < 0) return {};
  return seconds_.steps[static_cast<std::size_t>(seconds_.newest) % kSeconds];
}

std::size_t History::bytes() const noexcept {
  std::size_t bytes = sizeof seconds_.steps + sizeof tens_.steps;
  for (const Mark& mark : marks_) bytes += sizeof mark + mark.text.size() + mark.node.size();
  return bytes;
}

}  // namespace penstock::telemetry
