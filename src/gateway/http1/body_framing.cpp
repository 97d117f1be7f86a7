#include "gateway/http1/body_framing.hpp"

#include "gateway/http1/fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace penstock::gateway {
namespace {

constexpr std::size_t kMaxSizeDigits = 15;  // so that the size cannot overflow

int hex_value(char letter) noexcept {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

BodyDecoder::BodyDecoder(BodyFraming framing) noexcept
    : is_chunked_(framing.kind == BodyFraming::Kind::Chunked), left_(framing.length) {
  switch (framing.kind) {
    case BodyFraming::Kind::None: state_ = State::Done; break;
    case BodyFraming::Kind::Length: state_ = left_ == 0 ? State::Done : State::Data; break;
    case BodyFraming::Kind::Chunked: state_ = State::Size; break;
    case BodyFraming::Kind::UntilClose: state_ = State::Everything; break;
  }
}

BodyDecoder::Piece BodyDecoder::decode(std::span<char> bytes) {
  char* begin = nullptr;  // of the data
  std::size_t size = 0;
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::Done && state_ != State::Broken) {
    if (state_ != State::Data && state_ != State::Everything) {
      take_framing(bytes[at++]);
      continue;
    }
    std::size_t part = bytes.size() - at;
    if (state_ == State::Data) {
      part = static_cast<std::size_t>(std::min<std::uint64_t>(part, left_));
    }
    if (begin == nullptr) begin = bytes.data() + at;
    if (begin + size != bytes.data() + at) std::memmove(begin + size, bytes.data() + at, part);
    size += part;
    at += part;
    if (state_ == State::Everything) continue;
    left_ -= part;
    if (left_ == 0) state_ = is_chunked_ ? State::DataCr : State::Done;
  }
  return {.data = {begin, size}, .used = at, .is_broken = state_ == State::Broken};
}

bool BodyDecoder::finish() noexcept {
  if (state_ == State::Everything) state_ = State::Done;
  return is_complete();
}

void BodyDecoder::take_framing(char letter) {
  const auto expect = [&](char wanted, State next) {
    state_ = letter == wanted ? next : State::Broken;
  };
  switch (state_) {
    case State::Size:
    case State::Extension: return take_size(letter);
    case State::SizeEnd:
      digits_ = 0;
      return expect('\n', left_ == 0 ? State::TrailerStart : State::Data);
    case State::DataCr: return expect('\r', State::DataLf);
    case State::DataLf: return expect('\n', State::Size);
    default: return take_trailer(letter);
  }
}

void BodyDecoder::take_size(char letter) {
  if (letter == '\r') {
    const bool has_size = state_ == State::Extension || digits_ > 0;
    state_ = has_size ? State::SizeEnd : State::Broken;
  } else if (state_ == State::Extension) {
    if (is_control(letter) || ++digits_ > kMaxExtensionBytes) state_ = State::Broken;
  } else if (const int value = hex_value(letter); value >= 0 && digits_ < kMaxSizeDigits) {
    left_ = left_ * 16 + static_cast<std::uint64_t>(value);
    ++digits_;
  } else if (letter == ';' && digits_ > 0) {
    state_ = State::Extension;
    digits_ = 0;
  } else {
    state_ = State::Broken;
  }
}

void BodyDecoder::take_trailer(char letter) {
  switch (state_) {
    case State::TrailerStart:
      if (letter == '\r') {
        state_ = State::LastLf;
      } else if (letter == ' ' || letter == '\t') {
        state_ = State::Broken;  // obsolete line folding
      } else {
        state_ = State::Trailer;
        keep_trailer(letter);
      }
      return;
    case State::Trailer:
      if (letter == '\r') {
        state_ = State::TrailerLf;
      } else {
        keep_trailer(letter);
      }
      return;
    case State::TrailerLf:
      trailer_text_ += '\n';
      state_ = letter == '\n' ? State::TrailerStart : State::Broken;
      return;
    default: state_ = letter == '\n' && has_good_trailers() ? State::Done : State::Broken; return;
  }
}

void BodyDecoder::keep_trailer(char letter) {
  if (is_control(letter) || trailer_text_.size() >= kMaxTrailerBytes) {
    state_ = State::Broken;
  } else {
    trailer_text_ += letter;
  }
}

bool BodyDecoder::has_good_trailers() const {
  const auto lines = std::count(trailer_text_.begin(), trailer_text_.end(), '\n');
  return trailers().size() == static_cast<std::size_t>(lines);
}

std::vector<Field> BodyDecoder::trailers() const {
  std::vector<Field> fields;
  std::string_view rest = trailer_text_;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end, rest.size() - 1) + 1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) continue;
    fields.push_back({.name = line.substr(0, colon), .value = trimmed(line.substr(colon + 1))});
  }
  return fields;
}

ChunkHead::ChunkHead(std::size_t size) noexcept {
  const auto end = std::to_chars(text_.data(), text_.data() + text_.size() - 2, size, 16);
  *end.ptr = '\r';
  *(end.ptr + 1) = '\n';
  size_ = static_cast<std::size_t>(end.ptr - text_.data()) + 2;
}

std::string last_chunk(std::span<const Field> trailers) {
  std::string text = "0\r\n";
  for (const Field& field : trailers) append_field(text, field.name, field.value);
  return text += "\r\n";
}

std::optional<std::uint64_t> parse_length(std::string_view text) noexcept {
  std::uint64_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, length);
  if (text.empty() || failure != std::errc{} || stop != end) return std::nullopt;
  return length;
}

}  // namespace penstock::gateway
