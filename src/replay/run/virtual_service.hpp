#pragma once

#include "penstock/clock.hpp"
#include "penstock/memory_options.hpp"
#include "rules/model/ruleset.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"

#include <memory>
#include <optional>

namespace penstock::replay {

// The service of a daemon with one set of rules and a memory store, in virtual time: it is the
// Service of the listeners, so that a replay cannot decide otherwise.
//
// Thread-safety: none.
class VirtualService {
 public:
  // More keys than this are evicted; see MemoryStats.
  VirtualService(std::shared_ptr<const rules::Ruleset> rules, std::uint64_t max_keys);
  VirtualService(const VirtualService&) = delete;
  VirtualService& operator=(const VirtualService&) = delete;

  // Decides at this time, or at that of the last request if it is later. The answer is valid until
  // the next call.
  const service::Answer& decide(Instant time, const rules::Request& request);

  [[nodiscard]] const rules::Ruleset& rules() const noexcept { return *service_.rules(); }
  [[nodiscard]] MemoryStats stats() const { return memory_.stats(); }

 private:
  class NoEvents final : public service::Events {
   public:
    void on_store_call(std::chrono::steady_clock::duration /*waited*/,
                       const Error* /*failure*/) override {}
    void on_answer(std::string_view /*domain*/, const service::Answer& /*answer*/) override {}
    void on_take(std::string_view /*subject*/, const Decision& /*decision*/) override {}
  };

  ManualClock clock_{Instant{}};
  NoEvents events_;
  service::Membership members_{1};
  store::ShardedTable memory_;
  service::LocalFallback local_{memory_, members_, service::LocalFallback::Recall::Nothing};
  store::MemoryStore store_{memory_};
  service::Service service_;
  std::optional<service::Answer> answer_;
};

}  // namespace penstock::replay
