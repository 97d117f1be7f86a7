#include "gateway/upstream/name_lookup.hpp"

#include "base/deadline.hpp"

#include <string>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::Tcp;

// Lookups running or queued on this thread; an event loop has one thread.
thread_local std::size_t in_flight = 0;

}  // namespace

NameLookup::NameLookup(const net::Executor& executor)
    : ended_(executor, base::Deadline::max()), resolver_(executor) {}

Awaitable<std::vector<Tcp::endpoint>> NameLookup::find(net::Address address) {
  const auto self = shared_from_this();
  if (in_flight >= kMaxInFlight) co_return std::vector<Tcp::endpoint>{};
  ++in_flight;
  resolver_.async_resolve(address.host, std::to_string(address.port),
                          [self](const boost::system::error_code& failed, const auto& entries) {
                            --in_flight;
                            if (!failed) {
                              for (const auto& entry : entries)
                                self->found_.push_back(entry.endpoint());
                            }
                            self->cancel();
                          });
  if (is_waiting_) co_await ended_.async_wait(net::kIo);
  co_return std::move(found_);
}

void NameLookup::cancel() {
  is_waiting_ = false;
  resolver_.cancel();
  ended_.cancel();
}

}  // namespace penstock::gateway
