// libFuzzer: bytes of a gRPC client in any portions after the preface, with small limits. The
// memory of calls stays within the limits and is freed at the end.

#include "portions.hpp"
#include "rules/model/configuration.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"
#include "store/sharded_table.hpp"
#include "wire/grpc/session.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace penstock;
using fuzz::check;

constexpr std::size_t kMessage = 2'000;
constexpr std::string_view kGreeting("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
constexpr std::string_view kRules = R"(
domains: {d: {rules: [{name: r, key: [k], limit: 5/day}]}}
)";

class IgnoredEvents final : public service::Events {
 public:
  void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                     const Error* /*failure*/) override {}
  void on_answer(std::string_view /*domain*/, const service::Answer& /*answer*/) override {}
  void on_take(std::string_view /*subject*/, const Decision& /*decision*/) override {}
};

// A listener without sockets.
struct FuzzServer {
  store::ShardedTable memory{{.max_keys = 1'000}};
  store::MemoryStore store{memory};
  store::ShardedTable local_memory{{.max_keys = 1'000}};
  service::Membership members{1};
  service::LocalFallback local{local_memory, members};
  IgnoredEvents events{};
  service::Service service{store.stores(), local, events,
                           rules::load_text(kRules, "rules.yaml").configuration.value().rules};
  net::ServerState state{net::Timeouts::Durations{}};
  wire::grpc::RateLimiter limiter{service, {}};
  wire::grpc::ServerContext server_context{.limiter = limiter,
                                           .state = state,
                                           .max_message_bytes = kMessage,
                                           .max_connection_buffer_bytes = 4 * kMessage,
                                           .max_buffer_bytes = 8 * kMessage,
                                           .request_timeout = std::chrono::seconds{1},
                                           .receive_timeout = std::chrono::seconds{1}};
};

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static FuzzServer server;
  const fuzz::Input input = fuzz::input_of(data, size);
  base::Deadline now{std::chrono::seconds{1}};
  {
    wire::grpc::Session session(server.server_context, data[0] % 2 == 0
                                                           ? wire::grpc::Refunds::Allowed
                                                           : wire::grpc::Refunds::Ignored);
    check(session.receive(kGreeting, now));
    fuzz::feed(input, [&](std::string_view bytes) -> std::size_t {
      if (session.is_finished()) return 0;
      now += std::chrono::milliseconds{1};
      if (!session.receive(bytes, now)) return 0;
      static_cast<void>(session.take_output());
      // Each streaming call may have written one message more.
      check(server.server_context.buffered <= 8 * kMessage + (std::size_t{4} << 20U));
      return bytes.size();
    });
    session.expire(now + std::chrono::seconds{2});
  }
  check(server.server_context.buffered == 0);
  return 0;
}
