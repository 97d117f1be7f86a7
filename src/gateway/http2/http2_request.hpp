#pragma once

#include "gateway/http1/message_head.hpp"
#include "gateway/proxy/downstream.hpp"
#include "http2/stream.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace penstock::gateway {

// The head of an HTTP/2 request, kept as long as its exchange needs it.
class Http2Request {
 public:
  // Finds what cannot be expressed in HTTP/1.1: a field must not become two for an upstream.
  [[nodiscard]] static std::optional<HttpError> find_defect(const http2::RequestHead& head,
                                                            std::size_t max_header_bytes);
  // REQUIRES: find_defect() finds none.
  explicit Http2Request(const http2::RequestHead& head);

  [[nodiscard]] const RequestHead& head() const noexcept { return head_; }

 private:
  void add_fields(std::span<const http2::Field> fields);
  [[nodiscard]] std::string_view keep(std::string_view text);

  std::unique_ptr<std::string> texts_;  // its address survives moves
  RequestHead head_{};
};

// A response as HTTP/2 fields. Lower-case names are written to `texts`, which must outlive them.
[[nodiscard]] std::vector<http2::Field> http2_fields(const ClientResponseHead& head,
                                                     std::string& texts, std::string_view date);

}  // namespace penstock::gateway
