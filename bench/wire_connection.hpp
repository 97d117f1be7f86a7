#pragma once

#include "bench/wire_load.hpp"
#include "bench/wire_protocol.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace penstock::bench {

// One connection of a load: moves bytes between a socket and a WireProtocol, and reconnects after a
// failure.
//
// Lifetime: as long as the event loop runs.
class WireConnection {
 public:
  // Callbacks.
  class Owner {
   public:
    virtual void on_completed(Completion& completed) = 0;
    // The connection can take more requests.
    virtual void on_capacity(WireConnection& connection) = 0;
    // It broke with this many requests in flight, or could not reconnect and stays closed.
    virtual void on_lost(std::size_t requests, const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  WireConnection(boost::asio::io_context& context, Owner& owner, const MakeProtocol& protocol)
      : socket_(context), owner_(owner), make_protocol_(protocol), protocol_(protocol()) {}

  // Blocks until connected.
  [[nodiscard]] Result<void> connect(const WireTarget& target);
  void start() { read(); }
  // Writes after the current handlers: all requests of one moment in one write.
  void send(const ScheduledRequest& due);
  [[nodiscard]] std::size_t in_flight() const { return protocol_->in_flight(); }
  [[nodiscard]] bool is_connected() const { return is_connected_; }
  // Disables reconnecting.
  void stop_reconnecting() { is_wanted_ = false; }

  bool is_listed = false;  // set by the owner: in its list of connections with room

 private:
  void flush_soon();
  void flush();
  void read();
  void on_bytes(std::size_t bytes);
  void on_broken(const std::string& why);
  void connect_again();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::ip::tcp::endpoint server_{};
  Owner& owner_;
  const MakeProtocol& make_protocol_;
  std::unique_ptr<WireProtocol> protocol_;
  std::string out_{};
  std::array<char, std::size_t{64} * 1024> in_{};
  std::vector<Completion> completed_{};
  std::uint64_t generation_ = 0;  // of the socket: handlers of an earlier one do nothing
  bool is_connected_ = false;
  bool is_wanted_ = true;
  bool is_writing_ = false;
  bool will_flush_ = false;
};

}  // namespace penstock::bench
