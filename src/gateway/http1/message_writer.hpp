#pragma once

#include "gateway/http1/body_framing.hpp"
#include "gateway/http1/message_head.hpp"
#include "gateway/proxy/downstream.hpp"
#include "net/asio_types.hpp"

#include <boost/asio/buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::gateway {

// Texts sent in one write. REQUIRES: they stay valid until the write completes.
class BufferSequence {
 public:
  // REQUIRES: at most kMaxBuffers texts that are not empty.
  void add(std::string_view text) {
    if (text.empty()) return;
    parts_.at(end_++) = boost::asio::const_buffer(text.data(), text.size());
  }
  [[nodiscard]] bool is_empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::span<const boost::asio::const_buffer> parts() const noexcept {
    return std::span(parts_).subspan(begin_, end_ - begin_);
  }
  void remove(std::size_t bytes) noexcept {
    while (bytes > 0 && begin_ < end_) {
      const std::size_t part = std::min(bytes, parts_[begin_].size());
      parts_[begin_] += part;
      bytes -= part;
      if (parts_[begin_].size() == 0) ++begin_;
    }
  }

  static constexpr std::size_t kMaxBuffers = 6;

 private:
  std::array<boost::asio::const_buffer, kMaxBuffers> parts_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Frames pieces of a body for HTTP/1. The framing bytes stay valid until the next piece.
class BodyEncoder {
 public:
  explicit BodyEncoder(BodyFraming::Kind kind) noexcept : kind_(kind) {}

  void add(BufferSequence& out, std::string_view data, Last last,
           std::span<const Field> trailers = {}) {
    if (kind_ == BodyFraming::Kind::None) return;
    if (kind_ != BodyFraming::Kind::Chunked) return out.add(data);
    if (!data.empty()) {
      head_.emplace(data.size());
      out.add(head_->text());
      out.add(data);
      out.add("\r\n");
    }
    if (last == Last::No) return;
    if (trailers.empty()) return out.add(kLastChunk);
    end_ = last_chunk(trailers);
    out.add(end_);
  }

 private:
  BodyFraming::Kind kind_;
  std::optional<ChunkHead> head_{};
  std::string end_{};
};

// How a body is framed for an HTTP/1 client: unchanged, chunked, or, for HTTP/1.0, until the
// connection closes.
[[nodiscard]] BodyFraming::Kind downstream_framing(const ClientResponseHead& head,
                                                   Version version) noexcept;

// Appends the head of an HTTP/1.1 response. `date` is the line from DateHeader.
void append_response_head(std::string& out, const ClientResponseHead& head,
                          BodyFraming::Kind framing, Version version, AfterResponse then,
                          std::string_view date);
// Appends an interim response (100, 103), which has no body.
void append_interim(std::string& out, const ClientResponseHead& head);

}  // namespace penstock::gateway
