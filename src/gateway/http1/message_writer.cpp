#include "gateway/http1/message_writer.hpp"

#include "gateway/http1/fields.hpp"

#include <array>
#include <charconv>

namespace penstock::gateway {
namespace {

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> digits{};  // enough for 2^64
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end.ptr);
}

void append_status(std::string& out, const ClientResponseHead& head) {
  out.append("HTTP/1.1 ");
  append_number(out, head.status);
  out.append(" ").append(head.reason).append("\r\n");
}

}  // namespace

BodyFraming::Kind downstream_framing(const ClientResponseHead& head, Version version) noexcept {
  using Kind = BodyFraming::Kind;
  if (head.body.kind == Kind::None || head.body.kind == Kind::Length) return head.body.kind;
  return version == Version::Http10 ? Kind::UntilClose : Kind::Chunked;
}

void append_response_head(std::string& out, const ClientResponseHead& head,
                          BodyFraming::Kind framing, Version version, AfterResponse then,
                          std::string_view date) {
  append_status(out, head);
  if (!head.has_date) out.append(date);
  for (const Field& field : head.fields) append_field(out, field.name, field.value);
  if (head.ours != nullptr) {
    for (const auto& [name, value] : *head.ours) append_field(out, name, value);
  }
  if (framing == BodyFraming::Kind::Chunked) out.append("Transfer-Encoding: chunked\r\n");
  if (framing == BodyFraming::Kind::Length && !head.has_length) {
    out.append("Content-Length: ");
    append_number(out, head.body.length);
    out.append("\r\n");
  }
  if (then == AfterResponse::Close) {
    out.append("Connection: close\r\n");
  } else if (version == Version::Http10) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

void append_interim(std::string& out, const ClientResponseHead& head) {
  append_status(out, head);
  for (const Field& field : head.fields) append_field(out, field.name, field.value);
  out.append("\r\n");
}

}  // namespace penstock::gateway
