// libFuzzer: bytes of an HTTP/2 client in any portions after the preface. The number of streams is
// bounded, and every opened stream is closed once. Portions do not change what the frame scanner
// finds.

#include "http2/flood_budget.hpp"
#include "http2/server_session.hpp"
#include "portions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using namespace penstock::http2;
using penstock::fuzz::check;
using penstock::fuzz::Input;

constexpr std::uint32_t kMaxStreams = 8;
constexpr std::array kHead{static_field(":status", "200")};
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Echoes the request body.
class Echo final : public StreamEvents, public BodySource {
 public:
  void on_data(std::string_view bytes) override {
    check(!closed);
    received += bytes.size();
  }
  void on_end() override { check(!closed); }
  void on_closed(ErrorCode /*why*/) override {
    check(!closed);
    closed = true;
  }
  [[nodiscard]] Portion read(std::span<char> room) override {
    check(!closed);
    const std::size_t size = std::min(room.size(), received);
    std::fill_n(room.begin(), size, 'x');
    received -= size;
    return {.size = size, .after = received > 0 ? After::More : After::End};
  }

  std::size_t received = 0;
  bool closed = false;
};

class Requests final : public RequestEvents {
 public:
  StreamEvents* on_request(StreamId stream, const RequestHead& head) override {
    check(head.fields.size() < 1000);
    Echo& echo = *streams.emplace_back(std::make_unique<Echo>());
    session->respond(stream, kHead, &echo);
    return &echo;
  }

  ServerSession* session = nullptr;
  std::vector<std::unique_ptr<Echo>> streams;
};

std::size_t count_frames(const Input& input) {
  FrameScanner scanner;
  std::size_t sum = 0;
  scanner.scan(kPreface, [](const FrameHead&) { std::abort(); });
  penstock::fuzz::feed(input, [&](std::string_view bytes) {
    scanner.scan(bytes, [&sum](const FrameHead& head) {
      sum = 31 * sum + head.length + head.type + head.flags + 1;
    });
    return bytes.size();
  });
  return sum;
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Input input = penstock::fuzz::input_of(data, size);
  penstock::fuzz::check_portions(input, count_frames);
  Requests requests;
  ServerSession session(
      requests, {.max_streams = kMaxStreams,
                 .flow_control = data[0] % 2 == 0 ? FlowControl::Manual : FlowControl::Automatic});
  requests.session = &session;
  check(session.receive(kPreface, {}));
  penstock::fuzz::feed(input, [&](std::string_view bytes) -> std::size_t {
    if (session.is_finished() || !session.receive(bytes, {})) return 0;
    static_cast<void>(session.take_output());
    check(session.open_streams() <= kMaxStreams);
    return bytes.size();
  });
  return 0;
}
