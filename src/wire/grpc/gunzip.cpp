#include "wire/grpc/gunzip.hpp"

#define ZLIB_CONST  // its input is not written to
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace penstock::wire::grpc {
namespace {

constexpr std::size_t kFirstRoom = 4096;
// The largest window, and a gzip header.
constexpr int kGzipWindow = MAX_WBITS + 16;

class Inflater {
 public:
  explicit Inflater(std::string_view input) {
    stream_.next_in = static_cast<const Bytef*>(static_cast<const void*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    status_ = inflateInit2(&stream_, kGzipWindow);
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills the text from `begin` to its end, or less; returns where it stopped.
  std::size_t fill(std::string& text, std::size_t begin) {
    stream_.next_out = static_cast<Bytef*>(static_cast<void*>(text.data() + begin));
    stream_.avail_out = static_cast<uInt>(text.size() - begin);
    status_ = inflate(&stream_, Z_NO_FLUSH);
    return text.size() - stream_.avail_out;
  }
  [[nodiscard]] bool has_ended() const { return status_ == Z_STREAM_END; }
  [[nodiscard]] bool has_failed() const { return status_ != Z_OK && status_ != Z_STREAM_END; }
  [[nodiscard]] bool has_input() const { return stream_.avail_in > 0; }

 private:
  z_stream stream_{};
  int status_ = Z_OK;
};

// std::string::resize() would take up to twice as much.
void grow(std::string& text, std::size_t size) {
  std::string larger;
  larger.reserve(size);
  larger.append(text);
  larger.resize(size);
  text.swap(larger);
}

}  // namespace

GunzipResult gunzip(std::string_view compressed, std::size_t max_bytes, std::string& out) {
  const std::size_t most = max_bytes + 1;  // one more shows that it is too large
  if (std::max(compressed.size(), most) > std::numeric_limits<uInt>::max()) {
    return GunzipResult::TooLarge;
  }
  Inflater inflater(compressed);
  if (inflater.has_failed()) return GunzipResult::Malformed;  // there is no memory for it
  std::size_t size = 0;
  out.resize(std::min(most, kFirstRoom));
  for (;;) {
    size = inflater.fill(out, size);
    if (size == most) return GunzipResult::TooLarge;
    if (inflater.has_failed()) return GunzipResult::Malformed;
    if (inflater.has_ended()) break;
    if (size < out.size())
      return GunzipResult::Malformed;  // it had room, and the input is cut short
    grow(out, std::min(most, 2 * out.size()));
  }
  out.resize(size);
  return inflater.has_input() ? GunzipResult::Malformed : GunzipResult::Done;
}

}  // namespace penstock::wire::grpc
