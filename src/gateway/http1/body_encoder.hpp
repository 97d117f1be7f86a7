#pragma once

#include "gateway/http1/body_framing.hpp"
#include "gateway/http1/buffer_sequence.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::gateway {

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

}  // namespace penstock::gateway
