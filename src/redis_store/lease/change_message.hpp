#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Messages about keys that were changed other than by a check: a sign and the key.
namespace penstock::redis_store {

enum class Change : std::uint8_t {
  Any,       // it was reset, blocked or unblocked
  Refunded,  // more is available now, nothing else changed
};

inline constexpr char kRefundSign = '+';
inline constexpr char kAnyChangeSign = '!';

[[nodiscard]] inline std::string message_for(std::string_view key, Change change) {
  std::string message(1, change == Change::Refunded ? kRefundSign : kAnyChangeSign);
  return message += key;
}

}  // namespace penstock::redis_store
