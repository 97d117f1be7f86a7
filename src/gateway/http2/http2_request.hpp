#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/downstream.hpp"
#include "http2/stream.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penstock::gateway {

// The head of a request of HTTP/2, kept for as long as its exchange needs it.
class Http2Request {
 public:
  // A request that cannot be written as one of HTTP/1.1 is refused: what the client says in one
  // field must not become two for an upstream.
  [[nodiscard]] static std::optional<HttpError> find_defect(const http2::RequestHead& head);
  // REQUIRES: it has no defect.
  explicit Http2Request(const http2::RequestHead& head);

  [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

 private:
  void add_fields(std::span<const http2::Field> fields);
  [[nodiscard]] std::string_view keep(std::string_view text);

  std::unique_ptr<std::string> texts_;  // stays where it is when this moves
  RequestHead head_{};
};

// An answer as fields of HTTP/2. Names in lower case are written to `texts`, which has to live as
// long as they do.
[[nodiscard]] std::vector<http2::Field> http2_fields(const ClientResponseHead& head,
                                                     std::string& texts, std::string_view date);

}  // namespace penstock::gateway
