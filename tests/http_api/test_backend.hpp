#pragma once

#include "store/memory_store.hpp"
#include "wire/http/api/api.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A backend with configurable answers that records its calls.
namespace penstock::http {

inline std::string show(const core::LimitKey& name) { return name.subject + "|" + name.limit; }

class TestStore final : public store::LimitStore, public store::CounterStore {
 public:
  [[nodiscard]] store::Stores stores() noexcept {
    return {.limits = *this,
            .counters = *this,
            .permits = books_,
            .reservations = books_,
            .operators = books_};
  }

  std::vector<std::string> asked{};
  std::optional<Error> failure{};
  store::Decisions decisions{Decision::allow(100, 99, std::chrono::milliseconds{600})};
  bool yes = true;
  std::int64_t number = 7;

  void check(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
             store::Answered<store::Decisions> answered) override {
    asked.push_back("check" + show(checks));
    answer(std::move(answered), decisions);
  }
  void refund(std::vector<core::NamedCheck> checks, base::Deadline /*deadline*/,
              store::Answered<store::Decisions> answered) override {
    asked.push_back("refund" + show(checks));
    answer(std::move(answered), decisions);
  }
  void reset(std::vector<core::LimitKey> names, base::Deadline /*deadline*/,
             store::Answered<bool> answered) override {
    asked.push_back("reset" + show(names));
    answer(std::move(answered), yes);
  }
  void block(std::vector<core::LimitKey> names, Duration duration, base::Deadline /*deadline*/,
             store::Answered<bool> answered) override {
    asked.push_back("block" + show(names) + " " + std::to_string(duration.count()));
    answer(std::move(answered), yes);
  }
  void add(store::CounterKind kind, std::string name, std::int64_t delta,
           std::optional<Duration> lifetime, base::Deadline /*deadline*/,
           store::Answered<std::int64_t> answered) override {
    asked.push_back("add " + show(kind) + " " + name + " " + std::to_string(delta) +
                    (lifetime ? " " + std::to_string(lifetime->count()) : ""));
    answer(std::move(answered), number);
  }
  void get(store::CounterKind kind, std::string name, base::Deadline /*deadline*/,
           store::Answered<std::int64_t> answered) override {
    asked.push_back("get " + show(kind) + " " + name);
    answer(std::move(answered), number);
  }
  void remove(std::string name, base::Deadline /*deadline*/,
              store::Answered<bool> answered) override {
    asked.push_back("remove " + name);
    answer(std::move(answered), yes);
  }
  void read_counter(std::string name, base::Deadline /*deadline*/,
                    store::Answered<store::CounterValues> answered) override {
    asked.push_back("look " + name);
    answer(std::move(answered), store::CounterValues{.integer = number});
  }
  void expire(std::string name, Duration lifetime, store::ExpireCondition /*condition*/,
              base::Deadline /*deadline*/, store::Answered<bool> answered) override {
    asked.push_back("expire " + name + " " + std::to_string(lifetime.count()));
    answer(std::move(answered), yes);
  }

 private:
  static std::string show(store::CounterKind kind) {
    return kind == store::CounterKind::Integer ? "integer" : "decimal";
  }
  static std::string show(const std::vector<core::NamedCheck>& checks) {
    std::string text;
    for (const core::NamedCheck& check : checks) {
      text += " " + http::show(check.name) + " " + to_string(check.quota) + " x" +
              std::to_string(check.cost.units);
    }
    return text;
  }
  static std::string show(const std::vector<core::LimitKey>& names) {
    std::string text;
    for (const core::LimitKey& name : names) text += " " + http::show(name);
    return text;
  }

  template <class T>
  void answer(store::Answered<T> answered, T value) {
    if (failure) return answered(*failure);
    answered(std::move(value));
  }

  ManualClock clock_;
  store::ShardedTable memory_{{.clock = &clock_}};
  store::MemoryStore books_{memory_};
};

class TestBackend final : public service::Backend {
 public:
  TestStore counts{};
  std::vector<std::string> asked{};
  service::Answer next{};
  std::vector<rules::RuleReport> reports{};
  std::vector<rules::OnFailure> policies{};  // of take() calls
  bool hold = false;                         // answers are kept in `waiting`
  std::deque<std::function<void(service::Answer)>> waiting{};

  void decide(const rules::Request& request, base::Deadline /*deadline*/,
              std::function<void(service::Answer)> answered) override {
    asked.push_back(show(request));
    if (!next.match.domain_known) next.unknown_domain = request.domain;
    if (hold) {
      waiting.push_back(std::move(answered));
    } else {
      answered(next);
    }
  }
  // Calls the store, and denies when that fails.
  void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
            std::function<void(service::Answer)> answered) override {
    policies.push_back(on_failure);
    counts.check({check}, deadline, [&](const Result<store::Decisions>& said) {
      using service::Reason;
      service::Answer answer{.allowed = said && said->front().allowed(),
                             .reason = Reason::FailedClosed};
      answer.match.domain_known = true;
      answer.limits.push_back({.matched = {.check = check}});
      if (said) {
        answer.reason = answer.allowed ? Reason::WithinLimits : Reason::OverLimit;
        answer.limits.front().decision = said->front();
        answer.strictest = 0;
      }
      answered(std::move(answer));
    });
  }
  void explain(const rules::Request& request, base::Deadline /*deadline*/,
               std::function<void(Explained)> answered) override {
    asked.push_back(show(request));
    Explained explained{.answer = next, .explanation = {}};
    explained.explanation.match.domain_known = true;
    explained.explanation.rules = reports;
    answered(std::move(explained));
  }
  void usage(const rules::Request& request, base::Deadline /*deadline*/,
             std::function<void(const Result<service::Answer>&)> answered) override {
    asked.push_back("usage " + show(request));
    if (counts.failure) return answered(*counts.failure);
    answered(next);
  }
  [[nodiscard]] Result<service::Answer> limits_of_rule(std::string_view domain,
                                                       std::string_view rule,
                                                       std::string_view subject) const override {
    const std::string name = std::string(domain) + "/" + std::string(rule);
    if (name != "api/search") {
      return Error{ErrorCode::InvalidInput, "rule: \"" + name + "\" is not loaded"};
    }
    service::Answer answer;
    answer.match.domain_known = true;
    for (const std::size_t limit : {0U, 1U}) {
      const rules::RuleLimit& each = search.limits[limit];
      answer.limits.push_back(
          {.matched = {.rule = &search,
                       .limit = limit,
                       .check = {.name = {.subject = std::string(subject),
                                          .limit = name + "/" + each.name.substr(0, 1)},
                                 .quota = each.quota}}});
    }
    return answer;
  }
  [[nodiscard]] Result<service::Answer> limits_of_domain(std::string_view domain,
                                                         std::string_view subject) const override {
    if (domain != "api") return Error{ErrorCode::InvalidInput, "domain: not loaded"};
    return limits_of_rule("api", "search", subject);
  }
  void reserve(rules::Request request, service::ReservationRequest terms,
               base::Deadline /*deadline*/,
               store::Answered<service::ReserveResult> answered) override {
    asked.push_back("reserve " + show(request) + " " + show(terms));
    answer(answered, reserved);
  }
  void reserve(core::NamedCheck check, rules::OnFailure on_failure,
               service::ReservationRequest terms, base::Deadline /*deadline*/,
               store::Answered<service::ReserveResult> answered) override {
    policies.push_back(on_failure);
    asked.push_back("reserve " + http::show(check.name) + " " + to_string(check.quota) + " " +
                    show(terms));
    answer(answered, reserved);
  }
  void commit(std::string id, std::uint64_t actual, base::Deadline /*deadline*/,
              store::Answered<service::SettleResult> answered) override {
    asked.push_back("commit " + id + " " + std::to_string(actual));
    answer(answered, settled);
  }
  void cancel(std::string id, base::Deadline /*deadline*/,
              store::Answered<service::SettleResult> answered) override {
    asked.push_back("cancel " + id);
    answer(answered, settled);
  }
  void set_override(store::Override set, Duration lasts, base::Deadline deadline,
                    store::Answered<store::Override> answered) override {
    if (counts.failure) return answered(*counts.failure);
    stores_.operators.set_override(std::move(set), lasts, deadline, std::move(answered));
  }
  void remove_override(store::Override removed, base::Deadline deadline,
                       store::Answered<std::optional<store::Override>> answered) override {
    if (counts.failure) return answered(*counts.failure);
    stores_.operators.remove_override(std::move(removed), deadline, std::move(answered));
  }
  [[nodiscard]] const store::Stores& stores() const noexcept override { return stores_; }

  service::ReserveResult reserved{};
  service::SettleResult settled{};
  const rules::Rule search{.domain = "api",
                           .name = "search",
                           .limits = {{.name = "minute", .quota = per_minute(600)},
                                      {.name = "day", .quota = per_day(5000)}}};

 private:
  store::Stores stores_{counts.stores()};

  template <class T>
  void answer(const store::Answered<T>& answered, const T& value) {
    if (counts.failure) return answered(*counts.failure);
    answered(value);
  }
  static std::string show(const service::ReservationRequest& terms) {
    return "id=" + terms.id + " x" + std::to_string(terms.estimate) + " for " +
           std::to_string(terms.lasts / std::chrono::milliseconds{1}) + " ms";
  }
  // "api x1 [method=GET path=/ cost=2]"
  static std::string show(const rules::Request& request) {
    std::string text = std::string(request.domain) + " x" + std::to_string(request.cost.units);
    for (const rules::Descriptor& descriptor : request.descriptors) {
      std::string entries;
      for (const rules::Attribute& entry : descriptor.entries) {
        entries +=
            (entries.empty() ? "" : " ") + std::string(entry.name) + "=" + std::string(entry.value);
      }
      text += " [" + entries + "]";
      if (descriptor.cost) text += " x" + std::to_string(descriptor.cost->units);
      if (descriptor.limit) text += " " + to_string(*descriptor.limit);
      if (descriptor.is_refund) text += " refund";
    }
    return text;
  }
};

}  // namespace penstock::http
