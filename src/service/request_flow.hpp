#pragma once

#include "base/deadline.hpp"
#include "penstock/clock.hpp"
#include "service/answer.hpp"
#include "service/combine.hpp"
#include "service/events.hpp"
#include "service/local_fallback.hpp"
#include "store/stores.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// Dependencies of a request. They outlive it.
struct ServiceDeps {
  store::Stores stores;
  LocalFallback& local;
  Events& events;
  // For all store calls of one request.
  Duration store_timeout = std::chrono::hours{1};
  // For limits of 0, which are decided without the store.
  const Clock* clock = &system_clock();

  [[nodiscard]] base::Deadline within(base::Deadline deadline) const {
    return std::min<base::Deadline>(deadline, base::deadline_after(store_timeout));
  }
};

// One request, from its limits to its answer. Steps:
//
// - enforced limits: all or nothing
// - alternatives: each by itself, after the enforced limits pass; when all deny, the enforced
// limits are refunded
// - shadow limits: each by itself, when the request passes
// - refunds: always
//
// A limit of 0 denies without the store; the other limits are then only peeked, for the numbers of
// the answer. A denied request charges rules with count_denied: its cost, or the remaining units if
// those are fewer. When the store is unavailable, the failure policy decides, and the store is not
// called again for this request. All steps share ServiceDeps::store_timeout.
//
// Lifetime: owns itself until it answers, once.
class RequestFlow {
 public:
  using Answered = std::function<void(Answer)>;

  // Whether the flow reports the answer to Events, or its caller, which may have to change it.
  enum class Reporting : std::uint8_t { Flow, Caller };

  // `answer` has the match and its limits, without decisions. REQUIRES: see rules::Match.
  static void start(const ServiceDeps& deps, Answer answer, std::string domain,
                    base::Deadline deadline, Answered answered,
                    Reporting reporting = Reporting::Flow);
  // For a request that cannot use the store: the failure policy decides, and only the local
  // fallback is charged.
  static void start_without_store(const ServiceDeps& deps, Answer answer, std::string domain,
                                  Answered answered, Reporting reporting = Reporting::Flow);

 private:
  using LimitIndices = std::vector<std::size_t>;
  using Next = void (RequestFlow::*)();

  RequestFlow(const ServiceDeps& deps, Answer answer, std::string domain, base::Deadline deadline,
              Answered answered, Reporting reporting);

  // Whether the limits of 0 deny the request.
  [[nodiscard]] bool decide_zero_limits();
  void check_enforced();
  void peek_others();
  void on_enforced(const Result<store::Decisions>& said);
  void check_alternatives();
  void decide_without_store();
  void on_alternatives();
  void decide_alternatives();
  void check_shadows();
  void send_refunds();
  void finish();

  void apply_failure_policy(const LimitIndices& indices);
  // Decides one limit that failed; the others continue.
  void decide_locally(std::size_t index);
  void charge_denied(Role role);
  void refund_enforced();
  // For a call in the background: its answer is only counted.
  [[nodiscard]] store::Answered<store::Decisions> ignore_result() const;
  [[nodiscard]] base::Deadline background_deadline() const;

  // Checks each limit by itself; `next` is called when all have answered.
  void check_each(const LimitIndices& indices, Next next);
  void finish_one();

  // The limits of this role that the store decides: all but those of 0.
  [[nodiscard]] LimitIndices indices_of(Role role) const;
  [[nodiscard]] std::vector<core::NamedCheck> checks_of(const LimitIndices& indices) const;
  void note(const LimitIndices& indices, const store::Decisions& decisions);
  void record_store_call(base::Deadline since, const Error* failure) const;

  const ServiceDeps deps_;
  Answer answer_;
  std::string domain_;
  base::Deadline deadline_;
  Answered answered_;
  const Reporting reporting_;
  LimitIndices enforced_;
  LimitIndices failed_;  // of check_each(): the store did not answer
  std::size_t pending_ = 0;
  std::uint64_t changes_ = 0;  // LocalFallback::changes() at the time of the store call
  Next next_ = nullptr;
};

}  // namespace penstock::service
