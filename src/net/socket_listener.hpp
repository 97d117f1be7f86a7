#pragma once

#include "net/connection_acceptor.hpp"
#include "net/listener_base.hpp"
#include "net/server_state.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace penstock::net {

// A listener with one acceptor. Its connections share a `State`, which is a ServerState.
template <class State>
class SocketListener : public Listener {
 public:
  [[nodiscard]] Result<std::vector<Address>> listen(const std::vector<Address>& addresses,
                                                    PortReuse port_reuse) override {
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
  SocketListener(boost::asio::io_context& loop, std::shared_ptr<State> state,
                 AcceptorOptions options, OnAccept on_accept)
      : state_(std::move(state)),
        acceptor_(loop, state_, std::move(options),
                  [state = state_, on_accept](ConnectionAcceptor::AcceptedSocket accepted) {
                    on_accept(state, std::move(accepted));
                  }) {}

  [[nodiscard]] State& state() noexcept { return *state_; }
  [[nodiscard]] ConnectionAcceptor& acceptor() noexcept { return acceptor_; }

 private:
  std::shared_ptr<State> state_;
  ConnectionAcceptor acceptor_;
};

}  // namespace penstock::net
