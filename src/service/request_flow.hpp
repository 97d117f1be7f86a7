#pragma once

#include "base/deadline.hpp"
#include "penstock/clock.hpp"
#include "service/answer.hpp"
#include "service/combine.hpp"
#include "service/events.hpp"
#include "service/local_share.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace penstock::service {

// Whom a request needs on its way. They outlive it.
struct Colleagues {
  store::Store& store;
  LocalShare& local;
  Events& events;
  // For everything that one request asks of the store, one after the other.
  Duration patience = std::chrono::hours{1};
  // For limits of 0, which tell when their window ends without asking the store.
  const Clock* clock = &system_clock();

  [[nodiscard]] base::Deadline within(base::Deadline deadline) const {
    return std::min<base::Deadline>(deadline, base::deadline_after(patience));
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
// of Colleagues::patience.
//
// Lifetime: owns itself until it has answered, which it does once.
class RequestFlow {
 public:
  using Answered = std::function<void(Answer)>;

  // Who reports the answer to Events: the flow, or its caller, who may have to change it.
  enum class Reporting : std::uint8_t { Flow, Caller };

  // `answer` has the match and its limits, without decisions. REQUIRES: see rules::Match.
  static void start(const Colleagues& colleagues, Answer answer, std::string domain,
                    base::Deadline deadline, Answered answered,
                    Reporting reporting = Reporting::Flow);
  // For a request that cannot use the store, as its caller found out: the failure policy decides,
  // and nothing is taken that is not this node's own.
  static void start_without_store(const Colleagues& colleagues, Answer answer, std::string domain,
                                  Answered answered, Reporting reporting = Reporting::Flow);

 private:
  using Places = std::vector<std::size_t>;
  using Next = void (RequestFlow::*)();

  RequestFlow(const Colleagues& colleagues, Answer answer, std::string domain,
              base::Deadline deadline, Answered answered, Reporting reporting);

  // Whether the limits of 0 deny the request.
  [[nodiscard]] bool settle_zero_limits();
  void ask_enforced();
  void peek_at_others();
  void on_enforced(const Result<store::Store::Decisions>& said);
  void ask_alternatives();
  void without_store();
  void on_alternatives();
  void judge_alternatives();
  void ask_shadows();
  void ask_to_give_back();
  void finish();

  void obey_failure_policy(const Places& places);
  // One that failed; the others go on.
  void stand_in(std::size_t place);
  void take_what_is_left(Role role);
  void give_back_enforced();
  // For a call whose answer changes nothing any more, and which nobody waits for.
  [[nodiscard]] store::Store::Answered<store::Store::Decisions> unheard() const;
  [[nodiscard]] base::Deadline time_of_its_own() const;

  // Asks about each by itself; `next` is called when all have answered.
  void ask_each(const Places& places, Next next);
  void close_one();

  // The limits of this role that the store decides: all but those of 0.
  [[nodiscard]] Places places_of(Role role) const;
  // Each name once, with the sum of the costs; `asked_` says which check each place became.
  [[nodiscard]] std::vector<core::NamedCheck> checks_of(const Places& places);
  void note(const Places& places, const store::Store::Decisions& decisions);
  void hear_store(base::Deadline since, const Error* failure) const;

  const Colleagues colleagues_;
  Answer answer_;
  std::string domain_;
  base::Deadline deadline_;
  Answered answered_;
  const Reporting reporting_;
  Places enforced_;
  Places asked_;   // see checks_of()
  Places failed_;  // of ask_each(): the store did not answer
  std::size_t open_ = 0;
  std::uint64_t changes_ = 0;  // that this node had heard of when the store was asked
  Next next_ = nullptr;
};

}  // namespace penstock::service
