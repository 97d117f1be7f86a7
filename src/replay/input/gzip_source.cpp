#include "replay/input/gzip_source.hpp"

#include "base/check.hpp"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::replay {
namespace {

constexpr std::size_t kInputBytes = std::size_t{64} << 10U;
constexpr int kGzipWindow = 15 + 16;  // the largest window, with a gzip header

Bytef* bytes_of(char* text) { return static_cast<Bytef*>(static_cast<void*>(text)); }

Error gzip_error(std::string_view what) {
  return {ErrorCode::InvalidInput, "gzip: " + std::string(what)};
}

}  // namespace

struct GzipSource::Inflater {
  z_stream stream{};

  Inflater() { PENSTOCK_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

GzipSource::GzipSource(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), input_(kInputBytes) {}
GzipSource::~GzipSource() = default;

Result<std::size_t> GzipSource::read(std::span<char> into) {
  if (!is_started_) {
    // two bytes tell; a pipe may deliver them one by one
    while (end_ < 2) {
      const Result<std::size_t> got = source_->read(std::span(input_).subspan(end_));
      if (!got) return got.error();
      if (*got == 0) break;
      end_ += *got;
    }
    is_started_ = true;
    if (end_ >= 2 && input_[0] == '\x1f' && input_[1] == '\x8b') {
      inflater_ = std::make_unique<Inflater>();
      is_in_member_ = true;
    }
  }
  return inflater_ == nullptr ? copy(into) : inflate_some(into);
}

Result<bool> GzipSource::fill() {
  if (begin_ < end_) return true;
  const Result<std::size_t> got = source_->read(input_);
  if (!got) return got.error();
  begin_ = 0;
  end_ = *got;
  return *got > 0;
}

Result<std::size_t> GzipSource::copy(std::span<char> into) {
  if (begin_ == end_) return source_->read(into);
  const std::size_t size = std::min(into.size(), end_ - begin_);
  std::copy_n(input_.begin() + static_cast<std::ptrdiff_t>(begin_), size, into.begin());
  begin_ += size;
  return size;
}

Result<std::size_t> GzipSource::inflate_some(std::span<char> into) {
  z_stream& stream = inflater_->stream;
  std::size_t written = 0;
  while (written == 0) {
    const Result<bool> more = fill();
    if (!more) return more.error();
    if (!*more) {
      if (is_in_member_) return gzip_error("the file is truncated");
      return std::size_t{0};
    }
    if (!is_in_member_) {
      while (begin_ < end_ && input_[begin_] == '\0') ++begin_;  // padding, e.g. of a tape
      if (begin_ == end_) continue;
      if (inflateReset(&stream) != Z_OK) return gzip_error("cannot be read");
      is_in_member_ = true;
    }
    stream.next_in = bytes_of(input_.data() + begin_);
    stream.avail_in = static_cast<uInt>(end_ - begin_);
    stream.next_out = bytes_of(into.data());
    stream.avail_out = static_cast<uInt>(into.size());
    const int said = inflate(&stream, Z_NO_FLUSH);
    begin_ = end_ - stream.avail_in;
    written = into.size() - stream.avail_out;
    if (said == Z_STREAM_END) {
      is_in_member_ = false;
    } else if (said != Z_OK && said != Z_BUF_ERROR) {
      return gzip_error("the compressed data is damaged");
    }
  }
  return written;
}

}  // namespace penstock::replay
