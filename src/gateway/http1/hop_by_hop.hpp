#pragma once

#include "http/message.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace penstock::gateway {

using http::Field;

// Which fields of a message are about the connection that it came on, and end there (RFC 9110,
// section 7.6.1): those of a fixed list, and those that Connection names.
class HopByHop {
 public:
  // REQUIRES: the texts of the fields outlive it.
  explicit HopByHop(std::span<const Field> fields);

  // Trailer is not one: it goes where the trailers go.
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  // Whether Connection says this word, in lower case: "close", "upgrade".
  [[nodiscard]] bool names(std::string_view word) const noexcept;
  // Whether Connection names a field that a request cannot do without, or far too many: the sender
  // wants it removed on the way.
  [[nodiscard]] bool names_required_field() const noexcept;

 private:
  std::vector<std::string_view> named_;
};

// Fields that no trailer may bring, because whoever joins them to the head is deceived: where a
// message ends, where it goes, who sent it.
[[nodiscard]] bool is_forbidden_trailer(std::string_view name) noexcept;

}  // namespace penstock::gateway
