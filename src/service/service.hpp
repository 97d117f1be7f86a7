#pragma once

#include "base/deadline.hpp"
#include "rules/model/ruleset.hpp"
#include "service/answer.hpp"
#include "service/reservations.hpp"
#include "service/service_deps.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace penstock::service {

// Handles one request: rules, store, failure policy, answer, events. Each event loop has its own.
//
// Thread-safety: none; everything happens on one event loop.
class Service {
 public:
  using Answered = std::function<void(Answer)>;

  // REQUIRES: all of them outlive the service; `local` and `events` outlive the store, which
  // answers all calls in flight before it is destroyed.
  Service(const ServiceDeps& deps, std::shared_ptr<const rules::Ruleset> rules);
  Service(const store::Stores& stores, LocalFallback& local, Events& events,
          std::shared_ptr<const rules::Ruleset> rules)
      : Service({.stores = stores, .local = local, .events = events}, std::move(rules)) {}

  // Requests in flight keep the rules that they started with.
  void use(std::shared_ptr<const rules::Ruleset> rules);
  [[nodiscard]] const std::shared_ptr<const rules::Ruleset>& rules() const noexcept;

  // Always answers, once, possibly before it returns.
  void decide(const rules::Request& request, base::Deadline deadline, Answered answered);
  // The same for a limit that comes with the request; its metrics are those of kTake.
  void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
            Answered answered);
  // The answer of take() while the store is unavailable.
  [[nodiscard]] Answer take_without_store(core::NamedCheck check, rules::OnFailure on_failure);
  // take() by a store that decides inline, at a fraction of the cost. Empty, and nothing is
  // charged, when the decision takes a store call.
  [[nodiscard]] std::optional<Decision> try_take(std::string_view subject, const Quota& quota,
                                                 Cost cost);
  // Dry run, with a report of every rule. Answers as decide() would, except that a denial has the
  // longest possible wait.
  struct Explained {
    Answer answer;
    rules::Explanation explanation;
  };
  void explain(const rules::Request& request, base::Deadline deadline,
               std::function<void(Explained)> answered);

  // Reserves an estimate; the cost of the request is ignored. See Reservations. REQUIRES: no
  // descriptor has its own cost, none is a refund.
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
