#pragma once

#include "rules/request.hpp"
#include "rules/settings.hpp"
#include "service/answer.hpp"
#include "wire/grpc/status.hpp"
#include "wire/http/rate_headers.hpp"

#include <envoy/service/ratelimit/v3/rls.pb.h>

#include <utility>
#include <vector>

// Envoy's messages from and to what the service understands, without I/O.
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

// How answers are written; keeps its buffers from one to the next.
class ResponseWriter {
 public:
  // `drafts` says which header fields tell clients what is left.
  explicit ResponseWriter(std::vector<rules::HeaderDraft> drafts) : drafts_(std::move(drafts)) {}

  // One status for each descriptor, and in a refusal the body for the client of Envoy: always, with
  // its Content-Type and Retry-After. `request` is needed when http::shares_counts(answer). Valid
  // until the next.
  [[nodiscard]] RateLimitResponse& write(const service::Answer& answer,
                                         const rules::Request* request);

 private:
  void write_refusal(const service::Answer& answer);

  std::vector<rules::HeaderDraft> drafts_;
  RateLimitResponse response_;
  http::RateFacts facts_{};
};

// What was asked, for Envoy's access log: domain, descriptors, hitsAddend.
void write_metadata(const RateLimitRequest& message, google::protobuf::Struct& out);

}  // namespace penstock::wire::grpc
