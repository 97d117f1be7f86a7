#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// One request of an HTTP/2 connection and its response, for the code that serves them.
namespace penstock::http2 {

using StreamId = std::int32_t;

// Of RFC 9113, section 7.
enum class ErrorCode : std::uint32_t {
  NoError = 0,
  ProtocolError = 1,
  InternalError = 2,
  FlowControlError = 3,
  RefusedStream = 7,
  Cancel = 8,
  EnhanceYourCalm = 11,
};

// A header field. Names are in lower case. Fields of a response are copied, unless they are static.
struct Field {
  enum class Lifetime : std::uint8_t { Temporary, Static };

  std::string_view name;
  std::string_view value;
  Lifetime lifetime = Lifetime::Temporary;
};

// A literal, which costs no copy.
constexpr Field static_field(std::string_view name, std::string_view value) {
  return {.name = name, .value = value, .lifetime = Field::Lifetime::Static};
}

// The texts live as long as the call that brings it.
struct RequestHead {
  std::string_view method;
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::span<const Field> fields;  // without the above; as the client sent them
  bool too_large = false;         // more than max_header_bytes: some are missing
  bool ends_stream = false;       // there is no body; on_end() follows
};

// Receives the rest of a request. REQUIRES: it lives until on_closed().
class StreamEvents {
 public:
  StreamEvents() = default;
  StreamEvents(const StreamEvents&) = delete;
  StreamEvents& operator=(const StreamEvents&) = delete;
  virtual ~StreamEvents() = default;

  virtual void on_data(std::string_view bytes) = 0;
  virtual void on_trailers(std::span<const Field> /*fields*/) {}
  virtual void on_end() = 0;  // the request is complete
  // The last event, also of streams that ended without an error (NoError).
  virtual void on_closed(ErrorCode why) = 0;
};

// Receives new requests.
class RequestEvents {
 public:
  RequestEvents() = default;
  RequestEvents(const RequestEvents&) = delete;
  RequestEvents& operator=(const RequestEvents&) = delete;
  virtual ~RequestEvents() = default;

  // Receives the rest of the request; may be null.
  virtual StreamEvents* on_request(StreamId stream, const RequestHead& head) = 0;
};

// The body of a response, read as the client grants window.
class BodySource {
 public:
  enum class After : std::uint8_t {
    More,      // call again
    Deferred,  // call again after ServerSession::resume()
    End,
    Failed,  // the stream is reset
  };
  struct Portion {
    std::size_t size = 0;
    After after = After::End;
  };

  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  // Fills the front of `room`, which is not empty.
  [[nodiscard]] virtual Portion read(std::span<char> room) = 0;
  // Called at the End. The texts are copied before the next call.
  [[nodiscard]] virtual std::span<const Field> trailers() { return {}; }
};

}  // namespace penstock::http2
