#pragma once

#include "rules/model/request.hpp"
#include "service/answer.hpp"
#include "wire/grpc/protocol.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>

#include <string_view>

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

// The fast path for the common RateLimitRequest: a domain and descriptors of entries, in ASCII,
// with or without hits_addend. False for every other message, valid or not, which protobuf and
// read_request() read; `out` is then unspecified. `out` keeps its buffers from call to call; its
// texts point into `bytes`.
//
// It reads as protobuf does: a test and a fuzz target compare them.
[[nodiscard]] bool read_plain_request(std::string_view bytes, rules::Request& out);

}  // namespace penstock::wire::grpc
