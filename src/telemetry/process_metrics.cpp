#include "telemetry/process_metrics.hpp"

#include "base/text.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace penstock::telemetry {
namespace {

std::string text_of_file(const char* path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The n-th word, counted from 0; empty when there are fewer.
std::string_view word(std::string_view text, std::size_t number) {
  while (true) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) return {};
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find_first_of(" \n"), text.size());
    if (number-- == 0) return text.substr(0, length);
    text.remove_prefix(length);
  }
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  return base::parse_number<std::uint64_t>(text);
}

std::size_t open_files() {
  std::error_code failure;
  std::size_t count = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", failure);
       !failure && it != std::filesystem::directory_iterator(); it.increment(failure)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // excluding the descriptor of this directory
}

}  // namespace

std::optional<std::uint64_t> cpu_ticks(std::string_view stat) {
  // The program name, in parentheses, may contain any characters.
  const std::size_t name_ends = stat.rfind(')');
  if (name_ends == std::string_view::npos) return std::nullopt;
  const std::string_view rest = stat.substr(name_ends + 1);
  const auto user = number_of(word(rest, 11));
  const auto system = number_of(word(rest, 12));
  if (!user || !system) return std::nullopt;
  return *user + *system;
}

std::optional<std::uint64_t> resident_pages(std::string_view statm) {
  return number_of(word(statm, 1));
}

std::optional<std::uint64_t> max_open_files(std::string_view limits) {
  constexpr std::string_view kLine = "Max open files";
  const std::size_t line = limits.find(kLine);
  if (line == std::string_view::npos) return std::nullopt;
  return number_of(word(limits.substr(line + kLine.size()), 0));
}

void report_process(const Metrics::Report& report) {
  const auto tell = [&](const Metric& metric, std::optional<std::uint64_t> value, double unit) {
    if (value) report(metric, static_cast<double>(*value) * unit);
  };
  tell(metrics::kProcessCpu, cpu_ticks(text_of_file("/proc/self/stat")),
       1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  tell(metrics::kProcessMemory, resident_pages(text_of_file("/proc/self/statm")),
       static_cast<double>(sysconf(_SC_PAGESIZE)));
  tell(metrics::kProcessFiles, open_files(), 1);
  tell(metrics::kProcessMaxFiles, max_open_files(text_of_file("/proc/self/limits")), 1);
}

}  // namespace penstock::telemetry
