#pragma once

#include "http2/stream.hpp"

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <vector>

namespace penstock::http2 {

// The header fields of one frame, as the library hands them over one by one. They stay where the
// library has them: nothing is copied. Blocks do not interleave, so a connection needs one.
class HeaderBlock {
 public:
  explicit HeaderBlock(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  ~HeaderBlock() { clear(); }
  HeaderBlock(const HeaderBlock&) = delete;
  HeaderBlock& operator=(const HeaderBlock&) = delete;

  void add(nghttp2_rcbuf* name, nghttp2_rcbuf* value);
  void clear() noexcept;

  // Valid until clear().
  [[nodiscard]] RequestHead head() const noexcept;
  [[nodiscard]] std::span<const Field> fields() const noexcept { return fields_; }

 private:
  // Whether its name starts with a colon.
  bool take_pseudo(const Field& field);

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  RequestHead head_{};
  std::vector<Field> fields_;
  std::vector<nghttp2_rcbuf*> held_;
};

}  // namespace penstock::http2
