#pragma once

#include "rules/request.hpp"
#include "rules/settings.hpp"
#include "service/answer.hpp"
#include "wire/grpc/status.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>

#include <span>

// Envoy's messages from and to what the service understands. Pure functions.
namespace penstock::wire::grpc {

using RateLimitRequest = envoy::service::ratelimit::v3::RateLimitRequest;
using RateLimitResponse = envoy::service::ratelimit::v3::RateLimitResponse;

// `out` keeps its buffers from call to call; its texts are the message's. What cannot be answered:
//
//   UNKNOWN           no domain, no descriptors: as the reference server says it
//   INVALID_ARGUMENT  a limit of an unknown unit or of zero, more descriptors or entries than
//   anybody
//                     needs
[[nodiscard]] Status read_request(const RateLimitRequest& message, rules::Request& out);

// One status for each descriptor, and in a refusal the body for the client of Envoy: always, with
// its Content-Type and Retry-After. `drafts` says which header fields tell clients what is left.
// `request` is needed when wire::http::shares_counts(answer).
void write_response(const service::Answer& answer, std::size_t descriptors,
                    const rules::Request* request, std::span<const rules::HeaderDraft> drafts,
                    RateLimitResponse& out);

// What was asked, for Envoy's access log: domain, descriptors, hitsAddend.
void write_metadata(const RateLimitRequest& message, google::protobuf::Struct& out);

}  // namespace penstock::wire::grpc
