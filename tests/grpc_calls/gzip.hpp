#pragma once

#define ZLIB_CONST
#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace penstock::grpc_calls {

// One gzip member, as gRPC clients write it.
[[nodiscard]] inline std::string gzipped(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = static_cast<const Bytef*>(static_cast<const void*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = static_cast<Bytef*>(static_cast<void*>(out.data()));
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (!done) throw std::runtime_error("deflate");
  return out;
}

}  // namespace penstock::grpc_calls
