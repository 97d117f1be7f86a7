#pragma once

#include "http2/stream.hpp"

#include <nghttp2/nghttp2.h>

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

}  // namespace penstock::http2
