#pragma once

#include "base/deadline.hpp"
#include "base/monotonic_time.hpp"
#include "redis_store/lease/change_feed.hpp"
#include "redis_store/requests.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace penstock::store_adapters {

// A change feed with its event loop.
class FeedReader {
 public:
  explicit FeedReader(const RedisOptions& options)
      : feed_(
            io_.get_executor(), options, client_of(options),
            [this](const redis_store::ChangedKey& changed) { received_.push_back(changed.name); }) {
    feed_.start();
  }

  void poll() {
    io_.restart();
    io_.poll();
  }
  // Runs the loop until the condition holds; false on timeout.
  bool run_until(const std::function<bool()>& holds) {
    const base::Deadline end = base::deadline_after(std::chrono::seconds{60});
    while (!holds() && base::monotonic_now() < end) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds{10});
    }
    return holds();
  }

  [[nodiscard]] bool is_listening() const { return feed_.is_listening(); }
  [[nodiscard]] std::size_t received() const { return received_.size(); }
  [[nodiscard]] bool has_received(const core::LimitKey& name) const {
    return std::find(received_.begin(), received_.end(), name) != received_.end();
  }
  [[nodiscard]] std::vector<std::optional<core::LimitKey>> take() {
    return std::exchange(received_, {});
  }
  // The last connection event.
  [[nodiscard]] const std::string& event() const { return event_; }

 private:
  redis::Options client_of(const RedisOptions& options) {
    redis::Options client = redis_store::client_options(options).value();
    client.on_event = [this](const RedisEvent& event) { event_ = event.text; };
    return client;
  }

  boost::asio::io_context io_{1};
  std::vector<std::optional<core::LimitKey>> received_;
  std::string event_;
  redis_store::ChangeFeed feed_;
};

}  // namespace penstock::store_adapters
