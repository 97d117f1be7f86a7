#pragma once

#include "bench/remote_bench.hpp"
#include "penstock/shared_limiter.hpp"

namespace penstock::bench {

// SharedLimiter through its public API. REQUIRES: the limiter outlives it.
class SharedContender final : public RemoteContender {
 public:
  SharedContender(SharedLimiter& limiter, const Quota& quota) : limiter_(limiter), quota_(quota) {}

  std::optional<Error> check(std::span<const std::string_view> keys,
                             std::span<Answer> answers) override;
  [[nodiscard]] std::uint64_t round_trips() override { return limiter_.stats().round_trips; }

 private:
  SharedLimiter& limiter_;
  Quota quota_;
};

}  // namespace penstock::bench
