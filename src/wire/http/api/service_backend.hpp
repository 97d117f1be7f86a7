#pragma once

#include "service/service.hpp"
#include "wire/http/api/backend.hpp"
#include "wire/http/api/subject_limits.hpp"

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {

// The service of this event loop behind the API. REQUIRES: it outlives the backend.
class ServiceBackend final : public Backend {
 public:
  explicit ServiceBackend(service::Service& service) : service_(service) {}

  void decide(const rules::Request& request, base::Deadline deadline,
              std::function<void(service::Answer)> answered) override {
    service_.decide(request, deadline, std::move(answered));
  }
  void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
            std::function<void(service::Answer)> answered) override {
    service_.take(std::move(check), on_failure, deadline, std::move(answered));
  }
  void explain(const rules::Request& request, base::Deadline deadline,
               std::function<void(Explained)> answered) override {
    service_.explain(request, deadline,
                     [answered = std::move(answered)](service::Service::Explained explained) {
                       answered({.answer = std::move(explained.answer),
                                 .explanation = std::move(explained.explanation)});
                     });
  }
  [[nodiscard]] Result<std::vector<SubjectLimit>> limits_of_rule(
      std::string_view domain, std::string_view rule, std::string_view subject) const override {
    return http::limits_of_rule(*service_.rules(), domain, rule, subject);
  }
  [[nodiscard]] Result<std::vector<SubjectLimit>> limits_of_domain(
      std::string_view domain, std::string_view subject) const override {
    return http::limits_of_domain(*service_.rules(), domain, subject);
  }
  void reserve(rules::Request request, service::ReservationRequest terms, base::Deadline deadline,
               store::Answered<service::ReserveResult> answered) override {
    service_.reserve(std::move(request), std::move(terms), deadline, std::move(answered));
  }
  void reserve(core::NamedCheck check, rules::OnFailure on_failure,
               service::ReservationRequest terms, base::Deadline deadline,
               store::Answered<service::ReserveResult> answered) override {
    service_.reserve(std::move(check), on_failure, std::move(terms), deadline, std::move(answered));
  }
  void commit(std::string id, std::uint64_t actual, base::Deadline deadline,
              store::Answered<service::SettleResult> answered) override {
    service_.reservations().commit(std::move(id), actual, deadline, std::move(answered));
  }
  void cancel(std::string id, base::Deadline deadline,
              store::Answered<service::SettleResult> answered) override {
    service_.reservations().cancel(std::move(id), deadline, std::move(answered));
  }
  [[nodiscard]] store::Stores stores() override { return service_.stores(); }

 private:
  service::Service& service_;
};

}  // namespace penstock::http
