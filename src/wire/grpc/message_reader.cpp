#include "wire/grpc/message_reader.hpp"

#include "base/text.hpp"

#define ZLIB_CONST  // its input is not written to
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace penstock::wire::grpc {
namespace {

// Bytes of a buffer that are kept for the next call.
constexpr std::size_t kKeptBuffer = std::size_t{4} << 10U;

}  // namespace

void MessageReader::begin(std::size_t max_bytes, Compression compression) {
  end();
  buffer_.clear();
  front_ = 0;
  max_bytes_ = max_bytes;
  compression_ = compression;
}

std::size_t MessageReader::size() const noexcept {
  const char* const prefix = buffer_.data() + front_;
  const auto byte = [prefix](std::size_t place) {
    return std::uint32_t{static_cast<unsigned char>(prefix[place])};
  };
  return byte(1) << 24U | byte(2) << 16U | byte(3) << 8U | byte(4);
}

// Grows to the size that the message declares, never to twice as much.
void MessageReader::add(std::string_view bytes) {
  const std::size_t needed = buffer_.size() + bytes.size();
  if (needed > buffer_.capacity() && needed > kKeptBuffer) {
    std::size_t room = std::max(needed, 2 * buffer_.capacity());
    if (buffer_.size() - front_ >= kPrefix) {
      room = std::max(needed, std::min(room, front_ + kPrefix + size()));
    }
    std::string larger;
    larger.reserve(room);
    larger.append(buffer_);
    buffer_.swap(larger);
  }
  buffer_.append(bytes);
}

MessageReader::Progress MessageReader::peek() const noexcept {
  if (is_empty()) return Progress::NeedMore;
  const auto flag = static_cast<unsigned char>(buffer_[front_]);
  if (flag > 1) return Progress::Malformed;
  if (buffer_.size() - front_ < kPrefix) return Progress::NeedMore;
  if (size() > max_bytes_) return Progress::TooLarge;
  if (flag == 1 && compression_ == Compression::Rejected) return Progress::Compressed;
  return buffer_.size() - front_ - kPrefix < size() ? Progress::NeedMore : Progress::Message;
}

std::string_view MessageReader::message() const noexcept {
  return std::string_view(buffer_).substr(front_ + kPrefix, size());
}

void MessageReader::pop() {
  front_ += kPrefix + size();
  if (front_ < buffer_.size() && front_ < kKeptBuffer) return;
  buffer_.erase(0, front_);  // of a client that always sends a part of its next message too
  front_ = 0;
}

void MessageReader::end() {
  if (buffer_.capacity() > kKeptBuffer) base::free_string(buffer_);
}

bool MessageReader::has_more() const noexcept { return buffer_.size() - front_ > kPrefix + size(); }

void write_prefix(char* out, std::uint32_t size) noexcept {
  *out = 0;
  for (std::size_t i = kPrefix - 1; i > 0; --i, size >>= 8U) {
    out[i] = static_cast<char>(size & 0xFFU);
  }
}

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
    if (size < out.size()) {
      return GunzipResult::Malformed;  // it had room, and the input is cut short
    }
    grow(out, std::min(most, 2 * out.size()));
  }
  out.resize(size);
  return inflater.has_input() ? GunzipResult::Malformed : GunzipResult::Done;
}

}  // namespace penstock::wire::grpc
