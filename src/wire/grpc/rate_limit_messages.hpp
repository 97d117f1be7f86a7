#pragma once

#include "rules/model/request.hpp"
#include "service/answer.hpp"
#include "wire/grpc/status.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>

// Requests of Envoy as requests of the service. Pure functions; responses: ResponseWriter.
namespace penstock::wire::grpc {

using RateLimitRequest = envoy::service::ratelimit::v3::RateLimitRequest;

// `out` keeps its buffers from call to call; its texts point into the message. Errors:
//
//   UNKNOWN           no domain, no descriptors: as in the reference server
//   INVALID_ARGUMENT  a limit of an unknown unit, too many descriptors or entries
[[nodiscard]] Status read_request(const RateLimitRequest& message, rules::Request& out);

// The request, for Envoy's access log: domain, descriptors, hitsAddend.
void write_metadata(const RateLimitRequest& message, google::protobuf::Struct& out);
// Adds `metadata` of the rules with descriptors that are not over their limit, merged in the order
// of the descriptors: the first value of a key is kept. `request`: see answer::envoy_status().
void add_rule_metadata(const service::Answer& answer, const rules::Request* request,
                       google::protobuf::Struct& out);

}  // namespace penstock::wire::grpc
