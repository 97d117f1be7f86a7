#pragma once

#include "base/deadline.hpp"
#include "rules/model/ruleset.hpp"
#include "service/answer.hpp"
#include "service/overrides.hpp"
#include "service/reservations.hpp"
#include "service/rollouts.hpp"
#include "service/service_deps.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::service {

// What the HTTP API calls; tests replace the Service with a fake.
//
// Thread-safety: none; everything happens on one event loop.
class Backend {
 public:
  using Answered = std::function<void(Answer)>;
  struct Explained {
    Answer answer;
    rules::Explanation explanation;
  };

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Always answers, once, possibly before it returns. The texts of the request live until then.
  virtual void decide(const rules::Request& request, base::Deadline deadline,
                      Answered answered) = 0;
  // The same for a limit that comes with the request; its metrics are those of kTake.
  virtual void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
                    Answered answered) = 0;
  // Dry run, with a report of every rule. Answers as decide() would, except that a denial has the
  // longest possible wait.
  virtual void explain(const rules::Request& request, base::Deadline deadline,
                       std::function<void(Explained)> answered) = 0;

  // The usage of every limit that applies: `decision` of each limit is that for a cost of 0, and
  // the answer is that to a request of cost 1. Charges nothing, and creates no key. Fails when the
  // store is unavailable.
  virtual void usage(const rules::Request& request, base::Deadline deadline,
                     std::function<void(const Result<Answer>&)> answered) = 0;

  // The limits of this rule for a subject such as "api_key=abc", without decisions; at least one.
  // Limits of 0 are among them only if an override set or changed them: they have state.
  [[nodiscard]] virtual Result<Answer> limits_of_rule(std::string_view domain,
                                                      std::string_view rule,
                                                      std::string_view subject) const = 0;
  // The same, of all rules of the domain that count by the attributes of the subject.
  [[nodiscard]] virtual Result<Answer> limits_of_domain(std::string_view domain,
                                                        std::string_view subject) const = 0;

  // Reserves an estimate; the cost of the request is ignored. See Reservations. REQUIRES: no
  // descriptor has its own cost, none is a refund.
  virtual void reserve(rules::Request request, ReservationRequest reservation,
                       base::Deadline deadline, Reservations::Answered<ReserveResult> answered) = 0;
  virtual void reserve(core::NamedCheck check, rules::OnFailure on_failure,
                       ReservationRequest reservation, base::Deadline deadline,
                       Reservations::Answered<ReserveResult> answered) = 0;
  virtual void commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                      Reservations::Answered<SettleResult> answered) = 0;
  virtual void cancel(std::string id, base::Deadline deadline,
                      Reservations::Answered<SettleResult> answered) = 0;

  // Sets or removes an override, once it fits the rules. When it is answered, all event loops of
  // this process apply it; other nodes do when the change feed tells them.
  virtual void set_override(store::Override set, Duration lasts, base::Deadline deadline,
                            store::Answered<store::Override> answered) = 0;
  virtual void remove_override(store::Override removed, base::Deadline deadline,
                               store::Answered<std::optional<store::Override>> answered) = 0;

  [[nodiscard]] virtual const store::Stores& stores() const noexcept = 0;
};

// Handles one request: rules, store, failure policy, answer, events. Each event loop has its own.
class Service final : public Backend {
 public:
  // REQUIRES: all of them outlive the service; `local` and `events` outlive the store, which
  // answers all calls in flight before it is destroyed.
  Service(const ServiceDeps& deps, std::shared_ptr<const rules::Ruleset> rules);
  Service(const store::Stores& stores, LocalFallback& local, Events& events,
          std::shared_ptr<const rules::Ruleset> rules)
      : Service({.stores = stores, .local = local, .events = events}, std::move(rules)) {}

  // Requests in flight keep the rules that they started with.
  void use(std::shared_ptr<const rules::Ruleset> rules);
  [[nodiscard]] const std::shared_ptr<const rules::Ruleset>& rules() const noexcept;

  void decide(const rules::Request& request, base::Deadline deadline, Answered answered) override;
  void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
            Answered answered) override;
  // The answer of take() while the store is unavailable.
  [[nodiscard]] Answer take_without_store(core::NamedCheck check, rules::OnFailure on_failure);
  // take() by a store that decides inline, at a fraction of the cost. Empty, and nothing is
  // charged, when the decision takes a store call.
  [[nodiscard]] std::optional<Decision> try_take(std::string_view subject, const Quota& quota,
                                                 Cost cost);
  void explain(const rules::Request& request, base::Deadline deadline,
               std::function<void(Explained)> answered) override;
  void usage(const rules::Request& request, base::Deadline deadline,
             std::function<void(const Result<Answer>&)> answered) override;
  [[nodiscard]] Result<Answer> limits_of_rule(std::string_view domain, std::string_view rule,
                                              std::string_view subject) const override;
  [[nodiscard]] Result<Answer> limits_of_domain(std::string_view domain,
                                                std::string_view subject) const override;

  void reserve(rules::Request request, ReservationRequest reservation, base::Deadline deadline,
               Reservations::Answered<ReserveResult> answered) override;
  void reserve(core::NamedCheck check, rules::OnFailure on_failure, ReservationRequest reservation,
               base::Deadline deadline, Reservations::Answered<ReserveResult> answered) override;
  void commit(std::string id, std::uint64_t actual, base::Deadline deadline,
              Reservations::Answered<SettleResult> answered) override;
  void cancel(std::string id, base::Deadline deadline,
              Reservations::Answered<SettleResult> answered) override;
  void set_override(store::Override set, Duration lasts, base::Deadline deadline,
                    store::Answered<store::Override> answered) override;
  void remove_override(store::Override removed, base::Deadline deadline,
                       store::Answered<std::optional<store::Override>> answered) override;
  // Reads the overrides from the store, for all event loops. On a failure those last read stay.
  void refresh_overrides(base::Deadline deadline, std::function<void(const Result<void>&)> done);
  // For the maintenance of reservations.
  [[nodiscard]] Reservations& reservations() noexcept { return reservations_; }

  [[nodiscard]] const store::Stores& stores() const noexcept override { return deps_.stores; }

 private:
  // Matches the request. A rule that an override or an aborted roll-out puts in shadow mode does
  // not deny it for a missing key.
  [[nodiscard]] rules::Match match(const rules::Request& request) const;
  [[nodiscard]] bool is_in_shadow_now(const rules::Rule& rule) const;
  // Adds all such rules that would deny it.
  [[nodiscard]] rules::Request without_shadow_denials(rules::Request request) const;
  // The limits of the match, as overrides and roll-outs change them, without decisions.
  [[nodiscard]] Answer undecided(rules::Match match) const;
  [[nodiscard]] Answer answer_to(const rules::Request& request) const;
  [[nodiscard]] Answer answer_for_take(core::NamedCheck check, rules::OnFailure on_failure) const;

  // Applies the overrides. Without any it costs two comparisons.
  void apply_overrides(Answer& answer) const {
    if (has_overrides()) overrides_.apply(answer.limits, *deps_.clock);
  }
  // Whether there are any, up to date in overrides_.
  [[nodiscard]] bool has_overrides() const {
    if (deps_.overrides == nullptr) return false;
    if (deps_.overrides->generation() != overrides_generation_) prepare_overrides();
    return !overrides_.empty();
  }
  void prepare_overrides() const;

  ServiceDeps deps_;
  Reservations reservations_;
  std::shared_ptr<const rules::Ruleset> rules_;
  // A cache: the list of deps_.overrides of this generation, prepared for rules_.
  mutable Overrides overrides_;
  mutable std::uint64_t overrides_generation_ = 0;
  RolloutSet* rollouts_ = nullptr;  // owned by rules_; null when no rule has `abort`
};

}  // namespace penstock::service
