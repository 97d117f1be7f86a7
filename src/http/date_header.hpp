#pragma once

#include "penstock/time.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace penstock::http {

// The Date field of responses, "Date: Mon, 16 Nov 2026 01:35:29 GMT\r\n", written once per second.
class DateHeader {
 public:
  // Valid until the next call.
  [[nodiscard]] std::string_view at(Instant now) {
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    if (second != second_ || line_.empty()) write(second);
    return line_;
  }

 private:
  void write(std::chrono::sys_seconds second);

  std::chrono::sys_seconds second_{};
  std::string line_;
};

}  // namespace penstock::http
