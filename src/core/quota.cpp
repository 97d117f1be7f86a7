#include "penstock/quota.hpp"

#include "penstock/limits.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace penstock {
// Never called: clang 14 emits code for consteval constructors, and it must link.
namespace invalid_quota {
void limit_must_be_at_least_1() {}
void limit_must_be_at_most_1000000000() {}
void period_must_be_at_least_1_millisecond() {}
void period_must_be_at_most_366_days() {}
void period_must_be_whole_milliseconds() {}
void burst_must_be_at_least_1() {}
void burst_must_be_at_most_1000000000() {}
void burst_needs_token_bucket_or_gcra() {}
void bucket_must_refill_within_100_years() {}
void sliding_log_holds_at_most_10000() {}
void sub_windows_must_be_at_least_2() {}
void sub_windows_must_be_at_most_100() {}
void sub_windows_must_divide_the_period() {}
}  // namespace invalid_quota

namespace {

std::string in_words(Duration period) { return std::to_string(period.count()) + " us"; }

std::string describe(QuotaDefect defect, const QuotaSpec& spec) {
  const std::string limit = std::to_string(spec.limit);
  const std::string burst = std::to_string(spec.capacity.value_or(spec.limit));
  const std::string period = in_words(spec.period);
  const std::string parts = std::to_string(spec.sub_window_count);
  switch (defect) {
    case QuotaDefect::None: break;
    case QuotaDefect::LimitTooSmall: return "limit " + limit + " must be at least 1";
    case QuotaDefect::LimitTooLarge: return "limit " + limit + " is above the most, 1000000000";
    case QuotaDefect::PeriodTooShort: return "period " + period + " is below the least, 1 ms";
    case QuotaDefect::PeriodTooLong: return "period " + period + " is above the most, 366 days";
    case QuotaDefect::PeriodNotWholeMilliseconds:
      return "period " + period + " is not a whole number of milliseconds";
    case QuotaDefect::BurstTooSmall: return "burst " + burst + " must be at least 1";
    case QuotaDefect::BurstTooLarge: return "burst " + burst + " is above the most, 1000000000";
    case QuotaDefect::BurstNeedsBucket:
      return "burst " + burst + " has no meaning for " + std::string(to_string(spec.algorithm)) +
             "; only token_bucket and gcra have a burst";
    case QuotaDefect::RefillTooSlow:
      return "burst " + burst + " at " + limit + " per " + period +
             " takes more than 100 years to refill";
    case QuotaDefect::LogTooLong:
      return "limit " + limit +
             " is above the most for sliding_log, 10000, which remembers every request; "
             "sub_windows gives the "
             "same guarantee for any limit";
    case QuotaDefect::TooFewSubWindows: return "sub_windows " + parts + " must be at least 2";
    case QuotaDefect::TooManySubWindows: return "sub_windows " + parts + " is above the most, 100";
    case QuotaDefect::SubWindowsDoNotDivide:
      return "sub_windows " + parts + " does not divide the period, " + period +
             ", into whole microseconds";
  }
  return {};
}

constexpr std::array kAlgorithmNames{
    std::string_view{"token_bucket"}, std::string_view{"gcra"},
    std::string_view{"fixed_window"}, std::string_view{"anchored_window"},
    std::string_view{"sliding_log"},  std::string_view{"sliding_counter"},
    std::string_view{"sub_windows"},
};

}  // namespace

std::string_view to_string(Algorithm algorithm) noexcept {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

Result<Algorithm> parse_algorithm(std::string_view text) {
  std::string known;
  for (std::size_t index = 0; index < kAlgorithmNames.size(); ++index) {
    if (text == kAlgorithmNames[index]) return static_cast<Algorithm>(index);
    known += (index == 0 ? "" : ", ") + std::string(kAlgorithmNames[index]);
  }
  return Error{ErrorCode::InvalidInput,
               "unknown algorithm \"" + std::string(text) + "\"; use one of " + known};
}

Result<Quota> Quota::make(const QuotaSpec& spec) {
  const QuotaDefect defect = find_defect(spec);
  if (defect != QuotaDefect::None) return Error{ErrorCode::InvalidInput, describe(defect, spec)};
  return Quota(spec, Checked{});
}

Result<Quota> Quota::parse(std::string_view text) {
  Result<QuotaSpec> spec = QuotaSpec::parse(text);
  if (!spec) return spec.error();
  Result<Quota> quota = make(*spec);
  if (!quota) {
    return Error{quota.error().code, "\"" + std::string(text) + "\": " + quota.error().detail};
  }
  return quota;
}

Result<Limits> Limits::make(std::vector<Limit> limits) {
  if (limits.empty()) {
    return Error{ErrorCode::InvalidInput, "a list of limits must have at least one"};
  }
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (limits[i].name.empty()) {
      return Error{ErrorCode::InvalidInput,
                   "limit number " + std::to_string(i + 1) + " has an empty name"};
    }
    const auto same =
        std::find_if(limits.begin(), limits.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const Limit& other) { return other.name == limits[i].name; });
    if (same != limits.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Error{ErrorCode::InvalidInput, "limit name \"" + limits[i].name + "\" is used twice"};
    }
  }
  return Limits(std::move(limits));
}

}  // namespace penstock
