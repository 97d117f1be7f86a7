#pragma once

#include "core/named_check.hpp"
#include "penstock/redis_options.hpp"
#include "redis/options.hpp"
#include "redis/subscription.hpp"
#include "redis_store/keys/key_layout.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::redis_store {

// Messages about keys that were changed other than by a check: a sign and the key.
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

// A parsed message.
struct ChangedKey {
  std::optional<core::LimitKey> name{};  // empty when unknown: it may be any key
  Change change = Change::Any;
  bool overrides = false;  // the overrides were changed, and no key
  bool is_gap = false;     // messages may have been missed, about any key and the overrides

  [[nodiscard]] bool may_concern_overrides() const noexcept { return overrides || is_gap; }
  friend bool operator==(const ChangedKey&, const ChangedKey&) = default;
};
[[nodiscard]] ChangedKey parse_change(std::string_view message, const KeyLayout& layout);

// Reports keys that any node refunded, reset, blocked or unblocked: cached state about them is
// outdated; and that overrides were set or removed. Reports all keys when messages may have been
// missed.
//
// Thread-safety: none; everything runs on the executor.
class ChangeFeed {
 public:
  using OnChange = std::function<void(const ChangedKey& changed)>;

  // `client` is the result of redis_store::client_options() for the options.
  ChangeFeed(const boost::asio::any_io_executor& executor, const RedisOptions& options,
             redis::Options client, OnChange on_change);

  void start() { subscription_.start(); }
  [[nodiscard]] Result<void> reload(redis::Options client) {
    return subscription_.reload(std::move(client));
  }
  [[nodiscard]] bool is_listening() const noexcept { return subscription_.is_listening(); }

 private:
  redis::Subscription subscription_;
};

}  // namespace penstock::redis_store
