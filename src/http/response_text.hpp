#pragma once

#include "http/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::http {

// What happens to the connection after an answer, as the answer says it.
enum class After : std::uint8_t {
  KeepAlive,        // HTTP/1.1: nothing to say
  KeepAliveStated,  // HTTP/1.0: has to be said
  Close,
};

// HEAD is answered without the body, but with its length.
enum class BodyPart : std::uint8_t { Sent, Omitted };

// The standard phrase of a status, "Unknown" where there is none.
[[nodiscard]] std::string_view reason_of(unsigned status) noexcept;

// Appends the bytes of an answer. `date` is the line of DateLine. Control characters in fields
// become spaces: no value can end its line.
void append_response(std::string& out, const Response& response, std::string_view date, After after,
                     BodyPart body_part);

}  // namespace penstock::http
