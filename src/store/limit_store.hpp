#pragma once

#include "base/deadline.hpp"
#include "core/named_check.hpp"
#include "penstock/decision.hpp"
#include "store/answered.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace penstock::store {

using Decisions = std::vector<Decision>;

// Usage of limits. Each event loop has a LimitStore of its own, in front of shared usage.
//
// Thread-safety: none; everything happens on one event loop.
class LimitStore {
 public:
  LimitStore() = default;
  LimitStore(const LimitStore&) = delete;
  LimitStore& operator=(const LimitStore&) = delete;
  virtual ~LimitStore() = default;

  // All or nothing: all limits pass, or none is charged. Answers one decision per check, in order.
  // A name that appears several times is charged for all of them; the sum must fit each quota.
  // REQUIRES: there is at least one check.
  virtual void check(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                     Answered<Decisions> answered) = 0;
  // The same without a wait. Returns false, and charges nothing, when the answer takes a call: then
  // use check(). Takes pointers so that checks are not copied.
  [[nodiscard]] virtual bool try_check(std::span<const core::NamedCheck* const> /*checks*/,
                                       std::span<Decision> /*decisions*/) {
    return false;
  }
  // The same for one subject under a limit without a name.
  [[nodiscard]] virtual std::optional<Decision> try_check(std::string_view /*subject*/,
                                                          const Quota& /*quota*/, Cost /*cost*/) {
    return std::nullopt;
  }
  // Answers the state of each limit afterwards. REQUIRES: there is at least one check.
  virtual void refund(std::vector<core::NamedCheck> checks, base::Deadline deadline,
                      Answered<Decisions> answered) = 0;
  // Answers whether any usage existed.
  virtual void reset(std::vector<core::LimitKey> names, base::Deadline deadline,
                     Answered<bool> answered) = 0;
  // Denies all requests under these names for this time; zero unblocks. Answers whether any name
  // was blocked before.
  virtual void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline deadline,
                     Answered<bool> answered) = 0;
};

}  // namespace penstock::store
