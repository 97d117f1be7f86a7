#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// What is published when somebody changes a count other than by asking: a sign, and its key.
namespace penstock::redis_store {

enum class Change : std::uint8_t {
  Any,       // it was reset, blocked or unblocked
  Refunded,  // there is more of it now, and nothing else is new
};

inline constexpr char kRefundSign = '+';
inline constexpr char kAnyChangeSign = '!';

[[nodiscard]] inline std::string message_for(std::string_view key, Change change) {
  std::string message(1, change == Change::Refunded ? kRefundSign : kAnyChangeSign);
  return message += key;
}

}  // namespace penstock::redis_store
