#pragma once

#include "http2/stream.hpp"

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <span>
#include <vector>

namespace penstock::http2 {

// Fields as the library wants them; it changes none of them.
inline void set_name_values(std::vector<nghttp2_nv>& out, std::span<const Field> fields) {
  const auto bytes = [](std::string_view text) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    return static_cast<std::uint8_t*>(static_cast<void*>(const_cast<char*>(text.data())));
  };
  out.clear();
  for (const Field& field : fields) {
    const bool lasts = field.lifetime == Field::Lifetime::Static;
    out.push_back({.name = bytes(field.name),
                   .value = bytes(field.value),
                   .namelen = field.name.size(),
                   .valuelen = field.value.size(),
                   .flags = static_cast<std::uint8_t>(lasts ? NGHTTP2_NV_FLAG_NO_COPY_NAME |
                                                                  NGHTTP2_NV_FLAG_NO_COPY_VALUE
                                                            : NGHTTP2_NV_FLAG_NONE)});
  }
}

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
