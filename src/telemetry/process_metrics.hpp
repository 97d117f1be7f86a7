#pragma once

#include "telemetry/metrics.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace penstock::telemetry {

// What Linux says about a process in /proc/self. Nothing where the text makes no sense.

// Of `stat`: user and system time, in ticks of the clock.
[[nodiscard]] std::optional<std::uint64_t> cpu_ticks(std::string_view stat);
// Of `statm`: resident pages.
[[nodiscard]] std::optional<std::uint64_t> resident_pages(std::string_view statm);
// Of `limits`: open files, the soft limit.
[[nodiscard]] std::optional<std::uint64_t> max_open_files(std::string_view limits);

// A source for Metrics: this process, now.
void report_process(const Metrics::Report& report);

}  // namespace penstock::telemetry
