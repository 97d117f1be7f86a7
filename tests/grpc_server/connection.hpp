#pragma once

#include "grpc_calls/grpc_client.hpp"
#include "http2_client/client_session.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace penstock::grpc_server {

// A gRPC client on a real connection.
template <class Stream>
class Connection {
 public:
  template <class... Arguments>
  explicit Connection(std::uint16_t port, Arguments&... arguments) : stream_(io_, arguments...) {
    const boost::asio::ip::tcp::endpoint server(boost::asio::ip::address_v4::loopback(), port);
    stream_.lowest_layer().connect(server);
  }

  [[nodiscard]] Stream& stream() noexcept { return stream_; }
  [[nodiscard]] http2_client::ClientSession& session() noexcept { return session_; }
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

  // Sends output and reads until the condition holds; false when the server closes or times out.
  bool wait(const std::function<bool()>& holds) {
    using namespace std::chrono_literals;
    while (true) {
      send(session_.take_output());
      if (holds()) return true;
      if (closed_) return false;
      std::size_t size = 0;
      bool arrived = false;
      stream_.async_read_some(boost::asio::buffer(buffer_),
                              [&](const boost::system::error_code& failed, std::size_t count) {
                                arrived = true;
                                closed_ = closed_ || failed;
                                size = count;
                              });
      io_.restart();
      io_.run_for(20s);
      if (!arrived) {
        boost::system::error_code ignored;
        stream_.lowest_layer().close(ignored);
        io_.restart();
        io_.run();
        closed_ = true;
        return false;
      }
      session_.receive(std::string_view(buffer_.data(), size));
    }
  }
  bool wait_for_close() {
    return !wait([] { return false; }) && closed_;
  }
  void send(std::string_view bytes) {
    if (bytes.empty() || closed_) return;
    boost::system::error_code failed;
    boost::asio::write(stream_, boost::asio::buffer(bytes), failed);
  }

  [[nodiscard]] const http2_client::Answer& call(std::string_view path, std::string_view body) {
    const auto stream = session_.request(grpc_calls::head_of(path), body);
    wait([&] { return session_.answer(stream).is_closed; });
    return session_.answer(stream);
  }

 private:
  boost::asio::io_context io_{1};
  Stream stream_;
  http2_client::ClientSession session_;
  std::array<char, 65'536> buffer_{};
  bool closed_ = false;
};

using PlainConnection = Connection<boost::asio::ip::tcp::socket>;

}  // namespace penstock::grpc_server
