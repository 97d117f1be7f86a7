#pragma once

#include "answer/rate_headers.hpp"
#include "http/json_writer.hpp"
#include "rules/model/request.hpp"
#include "rules/settings/settings.hpp"
#include "service/answer.hpp"

#include <google/protobuf/struct.pb.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::grpc {

// Writes RateLimitResponse by hand: filling and serialising a protobuf message was half the work of
// a call. The tests parse the output with protobuf. Keeps its buffers from one response to the
// next.
class ResponseWriter {
 public:
  // `drafts`: the header fields for clients.
  explicit ResponseWriter(std::vector<rules::HeaderDraft> drafts) : drafts_(std::move(drafts)) {}

  // Appends the message: one status for each descriptor, and for a denial the body for the client
  // of Envoy, with its Content-Type and Retry-After. `request` is needed when
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
