// libFuzzer: requests, responses and bodies as the gateway reads them, in any portions. Portions do
// not change the result, limits hold, and a forwarded request parses again as the same request with
// the same end, so that no upstream sees another one.

#include "gateway/http1/body_framing.hpp"
#include "gateway/http1/message_head.hpp"
#include "gateway/http1/message_writer.hpp"
#include "gateway/proxy/forwarded_request.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

namespace {

using namespace penstock::gateway;
using Kind = BodyFraming::Kind;

constexpr std::size_t kMaxHeadBytes = 600;
constexpr std::size_t kMaxResponseBytes = 600;

void check(bool holds) {
  if (!holds) std::abort();
}

// With delimiters that no text can imitate.
void append(std::string& seen, std::string_view text) {
  seen += std::to_string(text.size()) + ":";
  seen += text;
}

void append(std::string& seen, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    check(field.value.find_first_of("\r\n") == std::string_view::npos);
    append(seen, field.name);
    append(seen, field.value);
  }
}

void append(std::string& seen, const BodyFraming& framing) {
  append(seen, std::to_string(static_cast<int>(framing.kind)));
  append(seen, std::to_string(framing.length));
}

std::string meaning_of(const RequestHead& head) {
  std::string seen;
  append(seen, head.method);
  append(seen, head.path);
  append(seen, head.query);
  append(seen, head.host);
  append(seen, upstream_framing(head));
  return seen;
}

// A forwarded request parses again as the same request, with the fields that rules have seen.
void check_forwarded(const RequestHead& head) {
  if (head.host.empty()) return;  // HTTP/1.0, forwarded as 1.1
  const penstock::rules::GatewaySettings settings;
  for (const Trust trust : {Trust::None, Trust::Proxy}) {
    const Origin origin{.peer = "192.0.2.1", .scheme = "http", .trust = trust};
    const ForwardedRequest request(head, origin, settings);
    if (request.rejection()) continue;
    const std::string text = request.text(request.path().forwarded);
    RequestHeadReader again(100'000);
    const RequestHeadReader::ReadResult found = again.read(text);
    const auto* const end = std::get_if<RequestHeadReader::End>(&found);
    check(end != nullptr && end->bytes == text.size());
    const RequestHead& read = again.head();
    check(read.method == head.method && read.query == head.query && read.host == head.host);
    check(read.path == request.path().forwarded);
    check(upstream_framing(read) == upstream_framing(head));
    std::string sent;
    std::string received;
    append(sent, request.fields());
    append(received, read.fields);
    check(sent == received);
    check(ForwardedRequest(read, origin, settings).upgrade() == request.upgrade());
  }
}

// Shows `look` a growing prefix of the bytes until it has a result.
template <class Look>
auto look_in_portions(std::string_view bytes, std::size_t portion, const Look& look) {
  std::size_t shown = std::min(portion, bytes.size());
  auto found = look(bytes.substr(0, shown));
  while (found.index() == 0 && shown < bytes.size()) {
    shown = std::min(shown + portion, bytes.size());
    found = look(bytes.substr(0, shown));
  }
  return found;
}

std::string read_request(std::string_view bytes, std::size_t portion) {
  RequestHeadReader reader(kMaxHeadBytes);
  const auto found =
      look_in_portions(bytes, portion, [&](std::string_view shown) { return reader.read(shown); });
  if (std::holds_alternative<RequestHeadReader::NeedMore>(found)) return "more";
  if (const auto* const rejected = std::get_if<HttpError>(&found)) {
    return std::to_string(rejected->status);
  }
  const RequestHead& head = reader.head();
  check(head.fields.size() <= penstock::http::kMaxFields);
  check(!head.method.empty() && !head.path.empty());
  check_forwarded(head);
  std::string seen = meaning_of(head);
  append(seen, head.fields);
  return seen + std::to_string(std::get<RequestHeadReader::End>(found).bytes);
}

std::string read_response(std::string_view bytes, std::size_t portion,
                          ResponseHeadReader::RequestMethod asked) {
  ResponseHeadReader reader(kMaxResponseBytes);
  const auto found = look_in_portions(
      bytes, portion, [&](std::string_view shown) { return reader.read(shown, asked); });
  if (std::holds_alternative<ResponseHeadReader::NeedMore>(found)) return "more";
  if (std::holds_alternative<ResponseHeadReader::Malformed>(found)) return "malformed";
  const ResponseHead& head = reader.head();
  check(head.status >= 100 && head.status <= 599);
  check(asked == ResponseHeadReader::RequestMethod::Other || head.body.kind == Kind::None);
  std::string seen = std::to_string(head.status);
  append(seen, head.reason);
  append(seen, head.fields);
  append(seen, head.body);
  return seen + std::to_string(std::get<ResponseHeadReader::End>(found).bytes);
}

struct Body {
  std::string data;
  std::string ending;
  std::size_t used = 0;

  friend bool operator==(const Body&, const Body&) = default;
};

Body read_body(std::string bytes, std::size_t portion, BodyFraming framing) {
  BodyDecoder decoder(framing);
  Body body;
  bool is_broken = false;
  while (body.used < bytes.size() && !decoder.is_complete() && !is_broken) {
    const std::size_t size = std::min(portion, bytes.size() - body.used);
    const BodyDecoder::Piece piece = decoder.decode({bytes.data() + body.used, size});
    check(piece.used <= size && piece.data.size() <= piece.used);
    check(piece.used == size || decoder.is_complete() || piece.is_broken);
    body.data += piece.data;
    body.used += piece.used;
    is_broken = piece.is_broken;
  }
  if (is_broken) {
    body.ending = "broken";
  } else if (decoder.is_complete()) {
    append(body.ending, decoder.trailers());
  } else {
    body.ending = decoder.finish() ? "closed" : "more";
  }
  return body;
}

// A body sent in chunks decodes to the received body.
void check_encoded(const Body& body) {
  if (body.data.empty()) return;
  BodyEncoder encoder(Kind::Chunked);
  BufferSequence parts;
  encoder.add(parts, body.data, Last::Yes);
  std::string bytes;
  for (const boost::asio::const_buffer& part : parts.parts()) {
    bytes.append(static_cast<const char*>(part.data()), part.size());
  }
  const Body again = read_body(bytes, bytes.size(), {.kind = Kind::Chunked});
  check(again.data == body.data && again.used == bytes.size() && again.ending.empty());
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::size_t portion = std::size_t{data[0]} + 1;
  const std::string bytes(static_cast<const char*>(static_cast<const void*>(data + 2)), size - 2);
  switch (data[1] % 3) {
    case 0: check(read_request(bytes, size) == read_request(bytes, portion)); break;
    case 1: {
      const auto asked = data[1] < 128 ? ResponseHeadReader::RequestMethod::Other
                                       : ResponseHeadReader::RequestMethod::Head;
      check(read_response(bytes, size, asked) == read_response(bytes, portion, asked));
      break;
    }
    default: {
      const BodyFraming framing{.kind = static_cast<Kind>(data[1] / 3 % 4), .length = data[1]};
      const Body whole = read_body(bytes, size, framing);
      check(whole == read_body(bytes, portion, framing));
      check_encoded(whole);
    }
  }
  return 0;
}
