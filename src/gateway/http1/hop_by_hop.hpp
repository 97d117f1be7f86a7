#pragma once

#include "http/message.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace penstock::gateway {

using http::Field;

// The hop-by-hop fields of a message, which are not forwarded (RFC 9110, section 7.6.1): a fixed
// list, and the fields that Connection names.
class HopByHop {
 public:
  // REQUIRES: the texts of the fields outlive it.
  explicit HopByHop(std::span<const Field> fields);

  // Trailer is not hop-by-hop: it is forwarded with the trailers.
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  // Whether Connection contains this word, given in lower case: "close", "upgrade".
  [[nodiscard]] bool names(std::string_view word) const noexcept;
  // Whether Connection names a required field, or too many fields.
  [[nodiscard]] bool names_required_field() const noexcept;

 private:
  std::vector<std::string_view> named_;
};

// Fields that are not allowed as trailers: framing, routing and authentication. A recipient that
// merges trailers into the head would be deceived.
[[nodiscard]] bool is_forbidden_trailer(std::string_view name) noexcept;

}  // namespace penstock::gateway
