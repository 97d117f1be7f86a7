#pragma once

#include "http/message.hpp"
#include "penstock/time.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::http {

// The Connection field of a response.
enum class ConnectionHeader : std::uint8_t {
  Omitted,    // HTTP/1.1: nothing to say
  KeepAlive,  // HTTP/1.0: has to be said
  Close,
};

// HEAD is answered without the body, but with its length.
enum class BodyPart : std::uint8_t { Sent, Omitted };

// The standard phrase of a status, "Unknown" where there is none.
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

// Appends the bytes of an answer. `date` is the line of DateHeader. Control characters in fields
// become spaces: no value can end its line.
void append_response(std::string& out, const Response& response, std::string_view date,
                     ConnectionHeader connection_header, BodyPart body_part);

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
