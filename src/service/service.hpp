#pragma once

#include "base/deadline.hpp"
#include "rules/model/ruleset.hpp"
#include "service/answer.hpp"
#include "service/events.hpp"
#include "service/local_fallback.hpp"
#include "service/request_flow.hpp"
#include "service/reservations.hpp"
#include "store/stores.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace penstock::service {

// Takes one request from start to end: rules, store, failure policy, answer, events. Each event
// loop has a Service of its own.
//
// Thread-safety: none; everything happens on one event loop.
class Service {
 public:
  using Answered = std::function<void(Answer)>;

  // REQUIRES: all of them outlive the service; `local` and `events` outlive the store, which
  // answers whatever is under way before it is gone.
  Service(const ServiceDeps& deps, std::shared_ptr<const rules::Ruleset> rules);
  Service(const store::Stores& stores, LocalFallback& local, Events& events,
          std::shared_ptr<const rules::Ruleset> rules)
      : Service({.stores = stores, .local = local, .events = events}, std::move(rules)) {}

  // Those under way go on with the rules that they began with.
  void use(std::shared_ptr<const rules::Ruleset> rules);
  [[nodiscard]] const std::shared_ptr<const rules::Ruleset>& rules() const noexcept;

  // Always answers, once, perhaps before it returns.
  void decide(const rules::Request& request, base::Deadline deadline, Answered answered);
  // The same for a limit that no rule knows, which is counted under kTake.
  void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
            Answered answered);
  // What take() answers when the store cannot be asked, for a call that found that out.
  void take_without_store(core::NamedCheck check, rules::OnFailure on_failure, Answered answered);
  // The same as take(), by a store that need not ask anybody for it: what take() would have said,
  // in a fraction of the time. Empty, and nothing is done, by one that has to.
  [[nodiscard]] std::optional<Decision> try_take(std::string_view subject, const Quota& quota,
                                                 Cost cost);
  // Looks without taking, with what every rule had to say. Answers as decide() would, but that the
  // wait of a refusal is the longest that it can be.
  struct Explained {
    Answer answer;
    rules::Explanation explanation;
  };
  void explain(const rules::Request& request, base::Deadline deadline,
               std::function<void(Explained)> answered);

  // Reserves the estimate of a request whose cost is known only later; the cost of the request is
  // not looked at. See Reservations. REQUIRES: no descriptor has a cost of its own, none gives
  // back.
  void reserve(rules::Request request, ReservationRequest reservation, base::Deadline deadline,
               Reservations::Answered<ReserveResult> answered);
  void reserve(core::NamedCheck check, rules::OnFailure on_failure, ReservationRequest reservation,
               base::Deadline deadline, Reservations::Answered<ReserveResult> answered);
  [[nodiscard]] Reservations& reservations() noexcept { return reservations_; }

  [[nodiscard]] const store::Stores& stores() const noexcept { return deps_.stores; }

 private:
  [[nodiscard]] Answer answer_to(const rules::Request& request) const;
  [[nodiscard]] Answer answer_for_take(core::NamedCheck check, rules::OnFailure on_failure) const;

  ServiceDeps deps_;
  Reservations reservations_;
  std::shared_ptr<const rules::Ruleset> rules_;
};

}  // namespace penstock::service
