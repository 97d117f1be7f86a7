#pragma once

#include "net/address.hpp"
#include "net/connection_acceptor.hpp"
#include "net/listen.hpp"
#include "net/server_state.hpp"
#include "net/statistics.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace penstock::rules {
struct Settings;  // only passed on
}  // namespace penstock::rules

namespace penstock::net {

// A server of one event loop. Each worker has its own, on the same addresses.
//
// Thread-safety: none; everything happens on the event loop.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // Applies all settings but the addresses: to new connections, and where the protocol allows it to
  // the next request of open ones. On an error nothing changes; its text begins with the name of
  // the setting in the section of the server: "tls: certificate ...".
  [[nodiscard]] virtual Result<void> reload(const rules::Settings& settings) = 0;

  // Listens on all addresses or on none. Returns them with their ports, for the other workers.
  [[nodiscard]] virtual Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                            PortReuse port_reuse) = 0;

  // Will stop soon: tells clients to connect elsewhere; keeps accepting and serving.
  virtual void drain() = 0;

  // Stops accepting, closes idle connections, finishes requests in flight, and aborts connections
  // that are open after `grace`. Then calls `stopped` once, from the event loop.
  virtual void stop(Duration grace, std::function<void()> stopped) = 0;

  [[nodiscard]] virtual const Statistics& statistics() const noexcept = 0;
};

// A listener with one acceptor. Its connections share a `State`, which is a ServerState. Its
// `Options` are used in the same way at startup and on reload:
//
//   use(settings)        takes everything that comes from the settings
//   acceptor_options()   what concerns the acceptor
//   apply_to(state)      the rest: connections read it from the state. On an error nothing changes;
//                        the text begins with the name of the setting in the section of the server
template <class State, class Options>
class SocketListener : public Listener {
 public:
  [[nodiscard]] Result<void> reload(const rules::Settings& settings) override {
    Options options = options_;
    options.use(settings);
    Result<void> reloaded =
        acceptor_.reload(options.acceptor_options(), [&] { return options.apply_to(*state_); });
    if (!reloaded) return reloaded;
    applied_ = {};
    options_ = std::move(options);
    return {};
  }
  [[nodiscard]] Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                    PortReuse port_reuse) override {
    if (!applied_) return applied_.error();
    return acceptor_.listen(addresses, port_reuse);
  }
  void drain() override { acceptor_.drain(); }
  void stop(Duration grace, std::function<void()> stopped) override {
    acceptor_.stop(grace, std::move(stopped));
  }
  [[nodiscard]] const Statistics& statistics() const noexcept override {
    return state_->statistics;
  }

 protected:
  // `on_accept` is called with the state and an AcceptedSocket.
  template <class OnAccept>
  SocketListener(boost::asio::io_context& loop, std::shared_ptr<State> state, Options options,
                 OnAccept on_accept)
      : options_(std::move(options)),
        state_(std::move(state)),
        acceptor_(loop, state_, options_.acceptor_options(),
                  [state = state_, on_accept](ConnectionAcceptor::AcceptedSocket accepted) {
                    on_accept(state, std::move(accepted));
                  }),
        applied_(options_.apply_to(*state_)) {}

  [[nodiscard]] const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  Options options_;
  std::shared_ptr<State> state_;
  ConnectionAcceptor acceptor_;
  Result<void> applied_;  // at startup; listen() reports it
};

}  // namespace penstock::net
