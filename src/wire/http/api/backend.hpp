#pragma once

#include "base/deadline.hpp"
#include "core/named_check.hpp"
#include "penstock/result.hpp"
#include "rules/model/ruleset.hpp"
#include "service/answer.hpp"
#include "service/reservations.hpp"
#include "store/stores.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// The limit of a rule for one subject.
struct SubjectLimit {
  std::string rule;   // "api/search"
  std::string limit;  // its name, where the rule has several
  core::LimitKey name;
  Quota quota;
};

// The operations that the API calls. The program implements them with its service
// (service_backend.hpp), tests with fakes.
//
// Thread-safety: none; everything happens on one event loop.
class Backend {
 public:
  struct Explained {
    service::Answer answer;
    rules::Explanation explanation;
  };

  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // Answers once, perhaps before it returns. The texts of the request live until it returns.
  virtual void decide(const rules::Request& request, base::Deadline deadline,
                      std::function<void(service::Answer)> answered) = 0;
  // The same for a limit that came with the request.
  virtual void take(core::NamedCheck check, rules::OnFailure on_failure, base::Deadline deadline,
                    std::function<void(service::Answer)> answered) = 0;
  virtual void explain(const rules::Request& request, base::Deadline deadline,
                       std::function<void(Explained)> answered) = 0;

  // The counts of this rule for a subject such as "api_key=abc"; at least one.
  [[nodiscard]] virtual Result<std::vector<SubjectLimit>> limits_of_rule(
      std::string_view domain, std::string_view rule, std::string_view subject) const = 0;
  // The same, of all rules of the domain that count by the attributes of the subject.
  [[nodiscard]] virtual Result<std::vector<SubjectLimit>> limits_of_domain(
      std::string_view domain, std::string_view subject) const = 0;

  // As service::Service and service::Reservations have them.
  virtual void reserve(rules::Request request, service::ReservationRequest terms,
                       base::Deadline deadline,
                       store::Answered<service::ReserveResult> answered) = 0;
  virtual void reserve(core::NamedCheck check, rules::OnFailure on_failure,
                       service::ReservationRequest terms, base::Deadline deadline,
                       store::Answered<service::ReserveResult> answered) = 0;
  virtual void commit(std::string id, std::uint64_t actual, base::Deadline deadline,
                      store::Answered<service::SettleResult> answered) = 0;
  virtual void cancel(std::string id, base::Deadline deadline,
                      store::Answered<service::SettleResult> answered) = 0;

  [[nodiscard]] virtual store::Stores stores() = 0;
};

}  // namespace penstock::http
