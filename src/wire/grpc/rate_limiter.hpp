#pragma once

#include "rules/model/request.hpp"
#include "rules/settings/settings.hpp"
#include "service/service.hpp"
#include "wire/grpc/rate_limit_messages.hpp"
#include "wire/grpc/response_writer.hpp"

#include <memory>
#include <vector>

namespace penstock::wire::grpc {

class Call;

struct RateLimiterOptions {
  std::vector<rules::HeaderDraft> headers{};  // empty for none
  bool dynamic_metadata = false;
};

// ShouldRateLimit: has the service decide. One for all connections of an event loop: messages keep
// their buffers from call to call.
//
// Thread-safety: none.
class RateLimiter {
 public:
  // `service` outlives the limiter, or is not called any more.
  RateLimiter(service::Service& service, const RateLimiterOptions& options);

  // For calls from now on. Not from within decide().
  void use(const RateLimiterOptions& options);

  // Answers, perhaps before it returns.
  void decide(Call& call);

 private:
  void answer(Call& call, const service::Answer& answer);

  service::Service& service_;
  ResponseWriter writer_;
  bool dynamic_metadata_;
  RateLimitRequest message_;
  rules::Request request_{};          // points into message_, or into the call
  const Call* request_of_ = nullptr;  // the owner, while the service decides
};

}  // namespace penstock::wire::grpc
