#pragma once

#include "conformance/any_limiter.hpp"
#include "servers/redis_server.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace penstock::conformance {

// Where state is stored.
enum class BackendKind : std::uint8_t { Memory, Standalone, UnixSocket, Sentinel, Cluster, Valkey };

inline constexpr std::array kBackendKinds{BackendKind::Memory,     BackendKind::Standalone,
                                          BackendKind::UnixSocket, BackendKind::Sentinel,
                                          BackendKind::Cluster,    BackendKind::Valkey};

[[nodiscard]] std::string to_string(BackendKind kind);

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Why it cannot be used on this machine; empty when it can.
  [[nodiscard]] virtual std::string missing() const { return {}; }
  // Two limiters with the same prefix share state, unless they are in memory.
  [[nodiscard]] virtual std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) = 0;
  // All servers that store keys, without replicas.
  [[nodiscard]] virtual std::vector<const servers::RedisServer*> servers() { return {}; }
};

// Started on first use; stopped with the test program.
[[nodiscard]] Backend& backend_of(BackendKind kind);

}  // namespace penstock::conformance
