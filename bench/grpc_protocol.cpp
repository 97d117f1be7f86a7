#include "bench/grpc_protocol.hpp"

#include "bench/key_text.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace penstock::bench {
namespace {

constexpr std::string_view kPath = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
// The gRPC message prefix: compression flag and a length of four bytes.
constexpr std::size_t kPrefix = 5;
constexpr std::size_t kLongestReply = std::size_t{64} * 1024;
// Flow control windows large enough to never block responses.
constexpr std::int32_t kWindow = 1 << 24;

// nghttp2 takes pointers to non-const, but does not write.
nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return static_cast<std::uint8_t*>(static_cast<void*>(const_cast<char*>(text.data())));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t count) {
  return {static_cast<const char*>(static_cast<const void*>(bytes)), count};
}

void append_prefix(std::string& out, std::size_t length) {
  out += '\0';
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    out += static_cast<char>((length >> (shift - 8)) & 0xffU);
  }
}

// One call, from its request to the end of its stream.
struct GrpcCall {
  ScheduledRequest due{};
  std::string request{};
  std::size_t sent = 0;
  std::string reply{};
  std::string http_status{};
  std::string grpc_status{};
  std::string grpc_message{};

  void begin(const ScheduledRequest& scheduled) {
    due = scheduled;
    sent = 0;
    for (std::string* text : {&request, &reply, &http_status, &grpc_status, &grpc_message}) {
      text->clear();
    }
  }
  [[nodiscard]] Completion completion(std::uint32_t stream_error) const {
    const auto failed = [&](std::string why) {
      return Completion{.due = due, .failure = std::move(why)};
    };
    if (stream_error != 0) {
      return failed(std::string("stream reset: ") + nghttp2_http2_strerror(stream_error));
    }
    if (http_status != "200") return failed("HTTP status " + http_status);
    if (grpc_status != "0") return failed("gRPC status " + grpc_status + ": " + grpc_message);
    if (reply.size() < kPrefix) return failed("a response without a message");
    const Result<OverallCode> code = read_overall_code(std::string_view(reply).substr(kPrefix));
    if (!code) return failed(code.error().detail);
    switch (*code) {
      case OverallCode::Ok: return {.due = due, .outcome = Completion::Outcome::Allowed};
      case OverallCode::OverLimit: return {.due = due, .outcome = Completion::Outcome::Denied};
      case OverallCode::Unknown: break;
    }
    return failed("a response without a code");
  }
};

class GrpcProtocol final : public WireProtocol {
 public:
  explicit GrpcProtocol(GrpcRequestSpec request_spec)
      : request_spec_(std::move(request_spec)),
        fields_{field(":method", "POST"),
                field(":scheme", "http"),
                field(":path", kPath),
                field(":authority", request_spec_.authority),
                field("content-type", "application/grpc"),
                field("te", "trailers")} {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session* session = nullptr;
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    session_.reset(session);
    const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &window, 1);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindow);
  }

  void send(const ScheduledRequest& due) override {
    GrpcCall& call = take_spare();
    call.begin(due);
    message_.clear();
    append_rate_limit_request(message_, request_spec_.message, key_.write(due.key));
    append_prefix(call.request, message_.size());
    call.request += message_;
    nghttp2_data_provider body{};
    body.source.ptr = &call;
    body.read_callback = read_request;
    const std::int32_t stream = nghttp2_submit_request(session_.get(), nullptr, fields_.data(),
                                                       fields_.size(), &body, &call);
    ++in_flight_;
    if (stream < 0) is_closing_ = true;  // stream ids are exhausted
  }

  void write_to(std::string& out) override {
    const std::uint8_t* bytes = nullptr;
    for (auto count = nghttp2_session_mem_send(session_.get(), &bytes); count > 0;
         count = nghttp2_session_mem_send(session_.get(), &bytes)) {
      out += text_of(bytes, static_cast<std::size_t>(count));
    }
  }

  Result<void> read(std::string_view bytes, std::vector<Completion>& completed) override {
    const auto* const data =
        static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data()));
    const auto done = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
    std::move(undelivered_.begin(), undelivered_.end(), std::back_inserter(completed));
    undelivered_.clear();
    if (done < 0) return Error{ErrorCode::Protocol, nghttp2_strerror(static_cast<int>(done))};
    return {};
  }

  [[nodiscard]] std::size_t in_flight() const override { return in_flight_; }
  [[nodiscard]] bool is_closing() const override {
    return is_closing_ || nghttp2_session_check_request_allowed(session_.get()) == 0;
  }

 private:
  struct EndSession {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  GrpcCall& take_spare() {
    if (spare_.empty()) {
      calls_.push_back(std::make_unique<GrpcCall>());
      return *calls_.back();
    }
    GrpcCall& call = *spare_.back();
    spare_.pop_back();
    return call;
  }

  static GrpcCall* call_of(nghttp2_session* session, std::int32_t stream) {
    return static_cast<GrpcCall*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static ssize_t read_request(nghttp2_session* /*session*/, std::int32_t /*stream*/,
                              std::uint8_t* out, std::size_t most, std::uint32_t* flags,
                              nghttp2_data_source* source, void* /*self*/) {
    GrpcCall& call = *static_cast<GrpcCall*>(source->ptr);
    const std::size_t count = std::min(most, call.request.size() - call.sent);
    std::copy_n(call.request.data() + call.sent, count, out);
    call.sent += count;
    if (call.sent == call.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  static int on_header(nghttp2_session* session, const nghttp2_frame* frame,
                       const std::uint8_t* name_bytes, std::size_t name_size,
                       const std::uint8_t* value_bytes, std::size_t value_size,
                       std::uint8_t /*flags*/, void* /*self*/) {
    GrpcCall* const call = call_of(session, frame->hd.stream_id);
    if (call == nullptr) return 0;
    const std::string_view name = text_of(name_bytes, name_size);
    const std::string_view value = text_of(value_bytes, value_size);
    if (name == ":status") call->http_status = value;
    if (name == "grpc-status") call->grpc_status = value;
    if (name == "grpc-message") call->grpc_message = value;
    return 0;
  }

  static int on_data(nghttp2_session* session, std::uint8_t /*flags*/, std::int32_t stream,
                     const std::uint8_t* bytes, std::size_t count, void* /*self*/) {
    GrpcCall* const call = call_of(session, stream);
    if (call == nullptr) return 0;
    if (call->reply.size() + count > kLongestReply) return NGHTTP2_ERR_CALLBACK_FAILURE;
    call->reply += text_of(bytes, count);
    return 0;
  }

  static int on_close(nghttp2_session* session, std::int32_t stream, std::uint32_t error,
                      void* self) {
    auto& protocol = *static_cast<GrpcProtocol*>(self);
    GrpcCall* const call = call_of(session, stream);
    if (call == nullptr) return 0;
    protocol.undelivered_.push_back(call->completion(error));
    protocol.spare_.push_back(call);
    --protocol.in_flight_;
    return 0;
  }

  const GrpcRequestSpec request_spec_;
  std::array<nghttp2_nv, 6> fields_;
  std::unique_ptr<nghttp2_session, EndSession> session_;
  std::vector<std::unique_ptr<GrpcCall>> calls_;  // a pool: as many as were in flight at once
  std::vector<GrpcCall*> spare_;
  std::vector<Completion> undelivered_;  // until read() hands them over
  KeyText key_;
  std::string message_;
  std::size_t in_flight_ = 0;
  bool is_closing_ = false;
};

}  // namespace

std::unique_ptr<WireProtocol> make_grpc_protocol(const GrpcRequestSpec& request_spec) {
  return std::make_unique<GrpcProtocol>(request_spec);
}

}  // namespace penstock::bench
