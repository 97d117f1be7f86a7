// The HTTP server with an empty handler, on a free port, which it prints. bench/http_compare.sh
// measures its cost.

#include "wire/http/server/server.hpp"

#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <iostream>

namespace {

namespace http = penstock::http;

class Nothing final : public http::Handler {
 public:
  void handle(const http::Request& /*request*/, Respond respond) override {
    respond({.status = 200, .fields = {{"Content-Type", "text/plain"}}, .body = "allowed\n"});
  }
};

}  // namespace

int main() {
  boost::asio::io_context loop(1);
  Nothing nothing;
  http::Server server(loop, nothing, {});
  const auto bound =
      server.listen({{.host = "127.0.0.1", .port = 0}}, penstock::net::PortReuse::Exclusive);
  if (!bound) {
    std::cerr << bound.error().detail << "\n";
    return EXIT_FAILURE;
  }
  std::cout << bound->front().port << std::endl;
  loop.run();
}
