#include "wire/grpc/message_reader.hpp"

#include "base/text.hpp"

#include <algorithm>

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

}  // namespace penstock::wire::grpc
