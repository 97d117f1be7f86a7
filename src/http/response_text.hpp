#pragma once

#include "http/message.hpp"

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

}  // namespace penstock::http
