#pragma once

#include "bench/wire_protocol.hpp"
#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::bench {

// The limit of CL.THROTTLE: "KEY max_burst count_per_period seconds", where one more than max_burst
// can pass at once. Fails for windows, and for periods that are not whole seconds.
struct ThrottleLimit {
  std::int64_t max_burst = 0;
  std::int64_t count = 0;
  std::int64_t seconds = 0;

  [[nodiscard]] static Result<ThrottleLimit> of(const Quota& quota);
};

// One command as clients write it, and its answer: five integers, the first of them 0 when allowed.
void append_throttle(std::string& out, std::string_view key, const ThrottleLimit& limit);

struct ThrottleReply {
  std::size_t bytes = 0;  // zero while the reply is incomplete
  Completion::Outcome outcome = Completion::Outcome::Failed;
  std::string failure{};  // the error of the server
};
// Reads the first reply in `bytes`. Fails for malformed input.
[[nodiscard]] Result<ThrottleReply> read_throttle_reply(std::string_view bytes);

// CL.THROTTLE, pipelined; replies are in the order of requests.
[[nodiscard]] std::unique_ptr<WireProtocol> make_resp_protocol(const ThrottleLimit& limit);

}  // namespace penstock::bench
