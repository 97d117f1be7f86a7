#pragma once

#include "answer/policy_header_cache.hpp"
#include "answer/rate_headers.hpp"
#include "http/text_writer.hpp"
#include "rules/model/request.hpp"
#include "rules/settings/settings.hpp"
#include "service/answer.hpp"

#include <google/protobuf/struct.pb.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::grpc {

// Writes RateLimitResponse. By hand: half of the work of a call was to fill a message of protobuf
// and to serialise it; the tests read with protobuf what is written here. Keeps its buffers from
// one answer to the next.
class ResponseWriter {
 public:
  // `drafts` says which header fields tell clients what is left.
  explicit ResponseWriter(std::vector<rules::HeaderDraft> drafts) : drafts_(std::move(drafts)) {}

  // Appends the message. One status for each descriptor, and in a refusal the body for the client
  // of Envoy: always, with its Content-Type and Retry-After. `request` is needed when
  // http::shares_limits(answer); `metadata` may be null.
  void write(const service::Answer& answer, const rules::Request* request,
             const google::protobuf::Struct* metadata, std::string& out);

 private:
  void write_headers(const service::Answer& answer, http::TextWriter& out);
  void write_denial(const service::Answer& answer, http::TextWriter& out);

  std::vector<rules::HeaderDraft> drafts_;
  answer::PolicyHeaderCache policies_{};
  answer::RateLimitInfo info_{};
};

}  // namespace penstock::wire::grpc
