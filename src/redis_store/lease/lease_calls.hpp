#pragma once

#include "base/deadline.hpp"
#include "core/lease.hpp"
#include "penstock/result.hpp"
#include "redis/client.hpp"
#include "redis_store/batch/plan.hpp"
#include "redis_store/redis_clock.hpp"
#include "redis_store/scripts.hpp"
#include "resp/value.hpp"
#include "store/lease_source.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace penstock::redis_store {

// A lease request under its key in Redis.
struct KeyLeaseRequest {
  std::string key;
  std::string escrow_key{};  // of strict leases
  Quota quota;
  core::StrictLeaseRequest amounts{};  // plain leases decide no requests
  std::optional<Duration> strict_lifetime{};
  std::vector<store::LeaseReport> reports{};
};

// The reply of a script: per request a grant, or nothing when it could not read a state and the
// script that reads all must be called.
struct LeaseGrants {
  Instant now{};
  std::vector<std::optional<Result<store::LeaseGrant>>> grants{};
};

// Leases that one script can grant: all strict, or all plain and of one algorithm. It has no
// sockets: it builds the command and reads the reply.
class LeaseCommand {
 public:
  // REQUIRES: all strict or none; at least one.
  LeaseCommand(std::vector<KeyLeaseRequest> asks, Reads reads);

  [[nodiscard]] redis::Command command(const ScriptSet& scripts) const;
  [[nodiscard]] Result<LeaseGrants> read(const resp::Value& reply) const;

  [[nodiscard]] const std::vector<KeyLeaseRequest>& asks() const noexcept { return asks_; }
  [[nodiscard]] Reads reads() const noexcept { return reads_; }

 private:
  [[nodiscard]] bool is_strict() const { return asks_.front().strict_lifetime.has_value(); }
  [[nodiscard]] redis::Command strict_command(const ScriptSet& scripts) const;
  [[nodiscard]] Result<LeaseGrants> read_strict(const resp::Value& reply) const;
  [[nodiscard]] Result<LeaseGrants> read_plain(const resp::Value& reply) const;

  std::vector<KeyLeaseRequest> asks_;
  Reads reads_;
  Plan plan_;  // of plain leases
};

using Leased = std::function<void(std::size_t ask, const Result<store::LeaseGrant>& grant)>;

// Requests leases in as few calls as possible: strict leases apart from plain ones, plain ones by
// algorithm, and in a cluster by slot. `leased` receives an answer to each of them, once. REQUIRES:
// no key appears twice.
struct LeaseServer {  // its members outlive the answers
  redis::Client& client;
  const ScriptSet& scripts;
  RedisClock* clock = nullptr;  // receives the time in replies
};
void lease(const LeaseServer& server, std::vector<KeyLeaseRequest> asks, base::Deadline deadline,
           Leased leased);

}  // namespace penstock::redis_store
