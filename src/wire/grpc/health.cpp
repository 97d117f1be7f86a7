#include "wire/grpc/call.hpp"
#include "wire/grpc/services.hpp"

#include <grpc/health/v1/health.pb.h>

namespace penstock::wire::grpc {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

bool parse(Call& call, HealthCheckRequest& request) {
  const std::string_view message = call.message();
  if (request.ParseFromArray(message.data(), static_cast<int>(message.size()))) return true;
  call.end({.code = StatusCode::Internal, .message = "cannot read HealthCheckRequest"});
  return false;
}

bool is_known(const std::string& service) {
  return service.empty() || service == "ratelimit" ||
         service == "envoy.service.ratelimit.v3.RateLimitService";
}

void send(Call& call, HealthCheckResponse::ServingStatus status) {
  HealthCheckResponse response;
  response.set_status(status);
  call.send(response);
}

HealthCheckResponse::ServingStatus status_of(bool serving) {
  return serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

}  // namespace

void check_health(Call& call, bool serving) {
  HealthCheckRequest request;
  if (!parse(call, request)) return;
  if (!is_known(request.service())) {
    return call.end({.code = StatusCode::NotFound,
                     .message = "there is no service \"" + request.service() + "\""});
  }
  send(call, status_of(serving));
  call.end({});
}

void watch_health(Call& call, bool serving) {
  HealthCheckRequest request;
  if (!parse(call, request)) return;
  call.stream();
  send(call,
       is_known(request.service()) ? status_of(serving) : HealthCheckResponse::SERVICE_UNKNOWN);
}

void send_not_serving(Call& call) { send(call, HealthCheckResponse::NOT_SERVING); }

}  // namespace penstock::wire::grpc
