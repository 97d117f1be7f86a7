#include "http/header_scanner.hpp"

#include <algorithm>

namespace penstock::http {

std::optional<HttpError> HeaderScanner::line_start_error(std::string_view bytes) const {
  if (line_start_ == 0 || line_start_ >= bytes.size()) return std::nullopt;
  const char first = bytes[line_start_];
  if (first != ' ' && first != '\t') return std::nullopt;
  return HttpError{400, "a line of the header begins with white space"};
}

HeaderScanner::ScanResult HeaderScanner::scan(std::string_view bytes, std::size_t max_bytes) {
  const std::string_view allowed = bytes.substr(0, max_bytes);
  while (true) {
    if (const auto defect = line_start_error(allowed)) return *defect;
    const std::size_t end = allowed.find('\n', std::max(seen_, line_start_));
    if (end == std::string_view::npos) break;
    if (end == line_start_ || allowed[end - 1] != '\r') {
      return HttpError{400, "a line of the header ends without a carriage return"};
    }
    const bool empty = end == line_start_ + 1;
    line_start_ = end + 1;
    if (empty) return End{end + 1};
  }
  seen_ = allowed.size();
  if (bytes.size() >= max_bytes) return HttpError{431, "the header is longer than allowed"};
  return More{};
}

}  // namespace penstock::http
