#pragma once

#include "gateway/http1/message_head.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/forwarded_request.hpp"
#include "gateway/proxy/gateway_context.hpp"
#include "gateway/proxy/proxy_machine.hpp"
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

// One request from its head to the end of its response. ProxyMachine decides what happens; the
// coroutines of this class do it, between the client and a connection to an upstream server.
// Permits and the connection are released when it ends.
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
  using State = ProxyMachine::State;
  using Report = ProxyMachine::Report;

  void begin(const RequestHead& head, const ForwardedRequest& request, const Caller& caller);
  // Returns the head for the upstream; empty when the request is not forwarded.
  [[nodiscard]] net::Awaitable<std::string> check(const RequestHead& head, Caller caller);
  [[nodiscard]] std::optional<ProxyError> admit(const RequestAttributes& attributes,
                                                const Route& route);
  void acquire_permit(const RequestAttributes& attributes);
  void check_limits(const RequestAttributes& attributes, std::string_view domain);
  void on_decision(const service::Answer& decision);
  void stop_waiting();
  [[nodiscard]] SendResult answer();

  void choose_server();
  [[nodiscard]] net::Awaitable<void> connect();
  [[nodiscard]] net::Awaitable<void> send_head(std::string_view head);
  [[nodiscard]] bool read_head();  // false when more bytes are needed
  void on_response_head();
  [[nodiscard]] SendResult send_interim();
  [[nodiscard]] net::Awaitable<void> relay();
  [[nodiscard]] net::Awaitable<bool> relay_body(BodyDecoder& decoder);
  [[nodiscard]] net::Awaitable<void> tunnel();
  static net::Awaitable<void> upload(std::shared_ptr<Exchange> self,
                                     std::shared_ptr<UpstreamConnection> connection);
  [[nodiscard]] net::Awaitable<void> upload_piece(UpstreamConnection& connection,
                                                  Downstream::BodyPiece piece);
  void stop_upload();
  void close_when_silent();

  [[nodiscard]] ProxyMachine::Attempt attempt() const noexcept;
  [[nodiscard]] ClientResponseHead client_response_head();
  [[nodiscard]] std::vector<Field> request_trailers(Last last);
  void report(Report report);
  void release_server();
  void finish();

  std::shared_ptr<GatewayContext> context_;
  std::shared_ptr<GatewayConfig> config_;  // in force when the request began
  Downstream& client_;
  ProxyMachine machine_{};
  net::Timer event_;  // never expires: cancelled when what run() waits for has happened
  base::Deadline started_;

  // The request:
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  ResponseHeadReader::RequestMethod request_method_ = ResponseHeadReader::RequestMethod::Other;
  Version version_ = Version::Http11;
  AccessEntry entry_{};
  answer::HeaderFields rate_fields_{};
  std::optional<service::Answer> decision_{};
  http::Response response_{};  // the gateway's own
  std::optional<InFlight::Permit> client_permit_{};
  std::optional<InFlight::Permit> upstream_permit_{};
  SharedPermits::Permit permit_{};
  bool is_waiting_ = false;  // for a permit or a decision

  // The attempt:
  std::shared_ptr<Upstream> upstream_{};
  std::size_t upstream_number_ = 0;
  std::string_view upstream_name_{};  // when the request is forwarded
  Upstream::InFlightGuard in_flight_{};
  std::shared_ptr<UpstreamConnection> connection_{};
  std::size_t written_before_ = 0;
  std::size_t received_before_ = 0;
  std::size_t head_bytes_ = 0;  // of the response
  base::Deadline asked_at_{};
  std::string_view why_{};  // detail of MalformedResponse; static text

  std::optional<net::Timer> silence_{};  // of a tunnel
  base::Deadline last_byte_{};
};

}  // namespace penstock::gateway
