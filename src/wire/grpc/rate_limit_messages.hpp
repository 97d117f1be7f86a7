#pragma once

#include "rules/model/request.hpp"
#include "service/answer.hpp"
#include "wire/grpc/status.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>

// What Envoy asks, as the service understands it. Pure functions; the way back is ResponseWriter.
namespace penstock::wire::grpc {

using RateLimitRequest = envoy::service::ratelimit::v3::RateLimitRequest;

// `out` keeps its buffers from call to call; its texts are the message's. What cannot be answered:
//
//   UNKNOWN           no domain, no descriptors: as the reference server says it
//   INVALID_ARGUMENT  a limit of an unknown unit, more descriptors or entries than anybody needs
[[nodiscard]] Status read_request(const RateLimitRequest& message, rules::Request& out);

// What was asked, for Envoy's access log: domain, descriptors, hitsAddend.
void write_metadata(const RateLimitRequest& message, google::protobuf::Struct& out);
// Adds `metadata` of the rules whose descriptors are not over their limit, merged in the order of
// the descriptors: the first one that sets a key keeps it. `request`: see answer::envoy_status().
void add_rule_metadata(const service::Answer& answer, const rules::Request* request,
                       google::protobuf::Struct& out);

}  // namespace penstock::wire::grpc
