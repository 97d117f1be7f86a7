#include "apps/penstock/duration_argument.hpp"

#include "core/duration_text.hpp"
#include "core/human_duration.hpp"

#include <optional>
#include <string>

namespace penstock::app {
Result<Duration> parse_duration(std::string_view option, std::string_view text, Duration min,
                                Duration max) {
  const std::optional<Duration> duration = core::parse_duration(text);
  if (duration && *duration >= min && *duration <= max) return *duration;
  return Error{ErrorCode::InvalidInput, std::string(option) + " \"" + std::string(text) +
                                            "\": expected a time such as 250ms, 10s, 5m, 2h or " +
                                            "1d, from " + core::exact_text(min) + " to " +
                                            core::exact_text(max)};
}

}  // namespace penstock::app
