#pragma once

#include "penstock/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Values as texts, the same in every form of a report.
namespace penstock::replay {

// "48 210"
[[nodiscard]] std::string grouped(std::uint64_t number);
// "0.33 %", rounded down, except that a part of something is never "0.00 %".
[[nodiscard]] std::string percent_text(std::uint64_t part, std::uint64_t whole);
// "99.9 %"
[[nodiscard]] std::string per_mille_text(std::uint64_t per_mille);
// "2026-11-16 14:03:12", UTC
[[nodiscard]] std::string time_text(Instant time);
// "52 min", "3 h 5 min", "2 d 1 h"; less than a second is "0 s"
[[nodiscard]] std::string duration_text(Duration duration);

// For a terminal or a page: bytes that are not UTF-8, control characters and characters that change
// the direction of text become U+FFFD. Subjects are chosen by clients.
[[nodiscard]] std::string printable(std::string_view text);
// The same with < > & " ' escaped.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace penstock::replay
