#include "http2/header_block.hpp"

namespace penstock::http2 {
namespace {

// RFC 9113, 10.5.1: added to the text of each field.
constexpr std::size_t kOverhead = 32;

std::string_view text_of(nghttp2_rcbuf* buffer) {
  const nghttp2_vec bytes = nghttp2_rcbuf_get_buf(buffer);
  return {static_cast<const char*>(static_cast<const void*>(bytes.base)), bytes.len};
}

}  // namespace

void HeaderBlock::add(nghttp2_rcbuf* name, nghttp2_rcbuf* value) {
  const Field field{.name = text_of(name), .value = text_of(value)};
  bytes_ += field.name.size() + field.value.size() + kOverhead;
  if (bytes_ > max_bytes_) {
    head_.too_large = true;
    return;
  }
  nghttp2_rcbuf_incref(value);
  held_.push_back(value);
  if (take_pseudo(field)) return;
  nghttp2_rcbuf_incref(name);
  held_.push_back(name);
  fields_.push_back(field);
}

bool HeaderBlock::take_pseudo(const Field& field) {
  if (!field.name.starts_with(':')) return false;
  if (field.name == ":path") {
    head_.path = field.value;
  } else if (field.name == ":method") {
    head_.method = field.value;
  } else if (field.name == ":scheme") {
    head_.scheme = field.value;
  } else if (field.name == ":authority") {
    head_.authority = field.value;
  }
  return true;
}

void HeaderBlock::clear() noexcept {
  for (nghttp2_rcbuf* const buffer : held_) nghttp2_rcbuf_decref(buffer);
  held_.clear();
  fields_.clear();
  head_ = {};
  bytes_ = 0;
}

RequestHead HeaderBlock::head() const noexcept {
  RequestHead head = head_;
  head.fields = fields_;
  return head;
}

}  // namespace penstock::http2
