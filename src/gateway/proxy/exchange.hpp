#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/forwarded_request.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "gateway/proxy/proxy_error.hpp"
#include "gateway/proxy/request_attributes.hpp"
#include "gateway/upstream/upstream.hpp"
#include "http/message.hpp"
#include "net/asio_types.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// The sender of a request, as its connection knows it.
struct Caller {
  Origin origin;
  std::string_view address;  // client IP behind trusted proxies
};

// One request from its head to the end of its response: checks the limits, then forwards it to an
// upstream. Permits and upstream connections are released when it ends.
//
// run() lasts until the response was sent or the client has disconnected. Thread-safety: none.
class Exchange final : public std::enable_shared_from_this<Exchange> {
 public:
  // The client outlives run().
  Exchange(std::shared_ptr<GatewayContext> context, Downstream& client,
           const net::Executor& executor);

  // The head is used until Downstream::release_head() or the response.
  static net::Awaitable<void> run(std::shared_ptr<Exchange> self, const RequestHead& head,
                                  Caller caller);
  // The client has disconnected.
  void abandon();

 private:
  enum class Outcome : std::uint8_t { Answered, Stale, Failed };

  void begin(const RequestHead& head, const ForwardedRequest& request, const Caller& caller);
  [[nodiscard]] std::optional<ProxyError> admit(const RequestAttributes& attributes,
                                                const Route& route);
  [[nodiscard]] net::Awaitable<std::optional<ProxyError>> acquire_permit(
      const RequestAttributes& attributes);
  [[nodiscard]] net::Awaitable<bool> decide(const RequestAttributes& attributes,
                                            std::string_view domain);
  [[nodiscard]] net::Awaitable<void> forward(std::string head);
  [[nodiscard]] net::Awaitable<bool> connect(std::size_t server);
  [[nodiscard]] net::Awaitable<Outcome> attempt(std::string_view head);
  [[nodiscard]] net::Awaitable<bool> send_request_head(std::string_view head);
  [[nodiscard]] net::Awaitable<std::size_t> read_head();
  [[nodiscard]] net::Awaitable<void> relay(std::size_t head_bytes);
  [[nodiscard]] net::Awaitable<bool> relay_body(BodyDecoder& decoder);
  [[nodiscard]] net::Awaitable<void> answer(http::Response response);
  static net::Awaitable<void> pump(std::shared_ptr<Exchange> self,
                                   std::shared_ptr<UpstreamConnection> connection);
  [[nodiscard]] net::Awaitable<bool> pump_piece(UpstreamConnection& connection,
                                                Downstream::BodyPiece piece);
  [[nodiscard]] net::Awaitable<void> stop_pump();
  [[nodiscard]] ClientResponseHead client_response_head();
  [[nodiscard]] std::vector<Field> request_trailers(bool is_last);
  [[nodiscard]] Trailers may_have_trailers(const ResponseHead& head) const noexcept;
  [[nodiscard]] bool may_retry() const noexcept;
  [[nodiscard]] ProxyError no_response_error() const noexcept;
  void enter_waiting();
  void finish();

  std::shared_ptr<GatewayContext> context_;
  Downstream& client_;
  net::Timer event_;  // never expires: cancelled when the awaited event happens
  net::Timer pump_done_;
  base::Deadline started_;

  // State of the request:
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  ResponseHeadReader::RequestMethod request_method_ = ResponseHeadReader::RequestMethod::Other;
  Version version_ = Version::Http11;
  bool is_idempotent_ = false;
  bool wants_upgrade_ = false;
  AccessEntry entry_{};
  answer::HeaderFields rate_fields_{};
  std::optional<http::Response> denial_{};
  std::optional<InFlight::Permit> client_permit_{};
  std::optional<InFlight::Permit> upstream_permit_{};
  SharedPermits::Permit permit_{};

  // State of the attempt:
  std::shared_ptr<Upstream> upstream_{};
  std::size_t upstream_number_ = 0;
  std::shared_ptr<UpstreamConnection> connection_{};
  bool is_reused_ = false;
  std::size_t written_before_ = 0;
  std::size_t received_before_ = 0;
  std::optional<ProxyError> error_{};
  std::string_view why_{};  // detail of MalformedResponse; static text

  bool body_started_ = false;      // some of it was consumed
  bool request_sent_ = false;      // completely
  bool response_started_ = false;  // the client has received some of it
  bool pumping_ = false;
  bool stopping_pump_ = false;
  bool client_disconnected_ = false;
};

}  // namespace penstock::gateway
