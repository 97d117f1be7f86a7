#pragma once

#include "telemetry/metrics.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::telemetry {

// Parsers for files in /proc/self. Empty for malformed text.

// From `stat`: user and system time in clock ticks.
[[nodiscard]] std::optional<std::uint64_t> cpu_ticks(std::string_view stat);
// From `statm`: resident pages.
[[nodiscard]] std::optional<std::uint64_t> resident_pages(std::string_view statm);
// From `limits`: soft limit of open files.
[[nodiscard]] std::optional<std::uint64_t> max_open_files(std::string_view limits);

// A source for Metrics that reports this process.
void report_process(const Metrics::Report& report);

}  // namespace penstock::telemetry
