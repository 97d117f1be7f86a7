#pragma once

#include "core/named_check.hpp"
#include "penstock/redis_options.hpp"
#include "redis/options.hpp"
#include "redis/subscription.hpp"
#include "redis_store/keys/key_layout.hpp"
#include "redis_store/lease/change_message.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <optional>
#include <string_view>

namespace penstock::redis_store {

// What a message says.
struct ChangedKey {
  std::optional<core::LimitKey> name{};  // empty when that cannot be said, and it may be any
  Change change = Change::Any;

  friend bool operator==(const ChangedKey&, const ChangedKey&) = default;
};
[[nodiscard]] ChangedKey parse_change(std::string_view message, const KeyLayout& layout);

// Tells which counts were given back to, reset, blocked or unblocked, by whomever: what was
// remembered about them is old. All counts, whenever something may have been missed.
//
// Thread-safety: none; everything happens on the executor.
class ChangeFeed {
 public:
  using OnChange = std::function<void(const ChangedKey& changed)>;

  // `client` is what redis_store::client_options() made of the options.
  ChangeFeed(const boost::asio::any_io_executor& executor, const RedisOptions& options,
             redis::Options client, OnChange on_change);

  void start() { subscription_.start(); }
  [[nodiscard]] Result<void> renew_credentials(const redis::Options& client) {
    return subscription_.renew_credentials(client);
  }
  [[nodiscard]] bool is_listening() const noexcept { return subscription_.is_listening(); }

 private:
  redis::Subscription subscription_;
};

}  // namespace penstock::redis_store
