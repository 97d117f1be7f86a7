#pragma once

#include "service/answer.hpp"
#include "service/failure_policy.hpp"
#include "service/local_fallback.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock::service {

// A call that a RequestFlow needs from the store.
struct StoreCall {
  enum class Operation : std::uint8_t { Check, Refund };
  enum class Limits : std::uint8_t {
    One,
    Enforced,
    EnforcedToRefund,  // those without count_denied
    Alternatives,
    Shadows,
    All,  // of these three roles
    Refunds,
  };

  Operation operation = Operation::Check;
  Limits limits = Limits::One;
  std::uint32_t limit = 0;     // of One
  std::optional<Cost> cost{};  // replaces the cost of each limit; a peek costs 0

  // Alternatives and shadow limits are checked in a call each; other limits all or nothing.
  [[nodiscard]] bool is_one_by_one() const noexcept {
    return limits == Limits::Alternatives || limits == Limits::Shadows;
  }
};

// One request, from its limits to its answer, as a state machine: it names the store calls, and a
// driver (decide.hpp) makes them.
//
//   Start         lists, no limits, and limits of 0 need no store
//   Peeks         a limit of 0 denies: the others are read, for the numbers of the answer
//   Enforced      all enforced limits: all or nothing
//   Alternatives  each by itself, after the enforced limits pass; if all deny, those are refunded
//   Shadows       each by itself, when the request passes
//   Refunds       always, except when the store is unavailable
//   Done          the answer is complete
//
// A denied request charges rules with count_denied: its cost, or the remaining units if those are
// fewer. When the enforced limits get no answer, the failure policy decides all limits, and the
// store is not called again. An alternative without an answer follows the policy by itself.
class RequestFlow {
 public:
  enum class State : std::uint8_t {
    Start,
    Peeks,
    Enforced,
    Alternatives,
    Shadows,
    Refunds,
    Done,
  };
  // `undecided` has the match and its limits, without decisions. REQUIRES: see rules::Match; both
  // outlive the flow.
  RequestFlow(LocalFallback& local, const Clock& clock, Answer&& undecided);

  // Goes on to the next state, and names its call; empty when Done. REQUIRES: the last call was
  // answered, for each of its limits, and the state is not Done.
  [[nodiscard]] std::optional<StoreCall> next();
  // For a request that cannot use the store: the failure policy decides, only the local fallback is
  // charged, and the state is Done. REQUIRES: the state is Start.
  void finish_without_store();

  // Calls of the last next() whose results are ignored; to be sent before its own.
  [[nodiscard]] std::span<const StoreCall> background() const noexcept { return background_; }

  // The answer to the call, or to one of its limits. REQUIRES: one decision per limit.
  void on_decisions(const StoreCall& call, std::span<const Decision> decisions);
  void on_failure(const StoreCall& call);

  // Calls `visit` with the index of each limit of the call.
  template <class Visit>
  void visit_limits(const StoreCall& call, Visit visit) const {
    if (call.limits == StoreCall::Limits::One) return visit(call.limit);
    for (std::uint32_t i = 0; i < answer_.limits.size(); ++i) {
      if (includes(call.limits, answer_.limits[i].matched)) visit(i);
    }
  }
  [[nodiscard]] const core::NamedCheck& check_of(std::uint32_t limit) const {
    return answer_.limits[limit].matched.check;
  }
  // The checks of a call, with its costs.
  [[nodiscard]] std::vector<core::NamedCheck> checks_of(const StoreCall& call) const;

  [[nodiscard]] State state() const noexcept { return state_; }
  // REQUIRES: Done.
  [[nodiscard]] Answer& answer() noexcept { return answer_; }

 private:
  using Limits = StoreCall::Limits;
  using Next = std::optional<StoreCall>;

  Next start();
  Next on_peeked();
  Next on_enforced();
  Next on_alternatives();
  Next on_refunded();

  Next check_enforced();
  Next check_alternatives();
  Next check_shadows();
  Next send_refunds();
  Next finish();
  Next wait_for(State state, const StoreCall& call);

  [[nodiscard]] bool is_decided_without_store();
  void decide_without_store();
  void apply_failure_policy();
  void decide_alternatives();
  void deny() noexcept;
  void charge_denied(Role role);

  // Limits of 0 are in no call.
  [[nodiscard]] static bool includes(Limits limits, const rules::MatchedLimit& matched) noexcept;
  [[nodiscard]] bool has_any(Role role) const noexcept {
    return (roles_ & 1U << static_cast<unsigned>(role)) != 0;
  }

  LocalFallback& local_;
  const Clock& clock_;
  State state_ = State::Start;
  unsigned roles_ = 0;  // of the limits that the store decides: a bit for each
  Answer answer_;
  std::vector<StoreCall> background_;
  std::vector<std::uint32_t> failed_;  // limits without an answer in this state
  std::uint64_t changes_ = 0;          // LocalFallback::changes() at the time of the call
};

}  // namespace penstock::service
