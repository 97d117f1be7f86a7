#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::wire::grpc {

enum class GunzipResult : std::uint8_t {
  Done,
  TooLarge,   // more than max_bytes come out
  Malformed,  // not one gzip member, or a part of one
};

// Inflates one gzip member. At most max_bytes + 1 bytes are written or kept, whatever the ratio.
// `out` is overwritten, and holds the message when it is Done.
[[nodiscard]] GunzipResult gunzip(std::string_view compressed, std::size_t max_bytes,
                                  std::string& out);

}  // namespace penstock::wire::grpc
