#pragma once

#include "penstock/quota.hpp"
#include "penstock/time.hpp"

#include <cstdint>
#include <vector>

namespace penstock::app {

// Two nodes, one limit in one Redis, and an outage of Redis (on_failure: local), in virtual time.
struct OutageRun {
  enum class Decided : std::uint8_t { AllowedByRedis, AllowedLocally, Denied };
  struct Request {
    Duration at{};
    Decided decided{};
  };
  struct Level {
    Duration at{};
    std::uint32_t used = 0;  // in Redis
  };
  struct Report {
    Duration at{};
    std::uint64_t units = 0;
  };

  std::vector<std::vector<Request>> nodes{};
  std::vector<Level> levels{};
  std::vector<Report> reports{};  // what reconciliation charged
  std::uint64_t admitted = 0;     // in the window of the outage, by all nodes
};

inline constexpr Duration kOutageBegin = std::chrono::seconds{12};
inline constexpr Duration kOutageEnd = std::chrono::seconds{40};
inline constexpr Duration kOutageRunEnd = std::chrono::seconds{80};

// 60 requests per minute in a fixed window.
[[nodiscard]] Quota outage_quota();
[[nodiscard]] OutageRun run_outage();

}  // namespace penstock::app
