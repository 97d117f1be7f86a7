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

// Whom a request needs on its way. They outlive it.
struct ServiceDeps {
  store::Stores stores;
  LocalFallback& local;
  Events& events;
  // For everything that one request asks of the store, one after the other.
  Duration store_timeout = std::chrono::hours{1};
  // For limits of 0, which tell when their window ends without asking the store.
  const Clock* clock = &system_clock();

  [[nodiscard]] base::Deadline within(base::Deadline deadline) const {
    return std::min<base::Deadline>(deadline, base::deadline_after(store_timeout));
  }
};

// One request from its limits to its answer:
//
//   enforced limits      together: all pass, or nothing is taken
//   alternatives         each by itself, when those passed; all refuse: the enforced get theirs
//   back shadow limits        each by itself, when the request passes what is given back   whatever
//   was decided
//
// A limit of 0 denies without the store. What else limits the request is then only peeked at, for
// the numbers of the answer. A refused request leaves what rules with count_denied want of it: its
// cost, or what is left where that is less. When the store cannot be asked, the failure policy
// decides, and the store is not asked again for this request. All that it waits for shares the time
// of ServiceDeps::store_timeout.
//
// Lifetime: owns itself until it has answered, which it does once.
class RequestFlow {
 public:
  using Answered = std::function<void(Answer)>;

  // Who reports the answer to Events: the flow, or its caller, who may have to change it.
  enum class Reporting : std::uint8_t { Flow, Caller };

  // `answer` has the match and its limits, without decisions. REQUIRES: see rules::Match.
  static void start(const ServiceDeps& deps, Answer answer, std::string domain,
                    base::Deadline deadline, Answered answered,
                    Reporting reporting = Reporting::Flow);
  // For a request that cannot use the store, as its caller found out: the failure policy decides,
  // and nothing is taken that is not this node's own.
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
  // One that failed; the others go on.
  void decide_locally(std::size_t index);
  void charge_denied(Role role);
  void refund_enforced();
  // For a call whose answer changes nothing any more, and which nobody waits for.
  [[nodiscard]] store::Answered<store::Decisions> ignore_result() const;
  [[nodiscard]] base::Deadline background_deadline() const;

  // Asks about each by itself; `next` is called when all have answered.
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
  std::uint64_t changes_ = 0;  // that this node had heard of when the store was asked
  Next next_ = nullptr;
};

}  // namespace penstock::service
