#pragma once

#include "gateway/http1/request_head.hpp"
#include "gateway/proxy/answers.hpp"
#include "gateway/proxy/core.hpp"
#include "gateway/proxy/downstream.hpp"
#include "gateway/proxy/forwarded_request.hpp"
#include "gateway/proxy/request_facts.hpp"
#include "gateway/upstream/upstream.hpp"
#include "http/message.hpp"
#include "net/asio_types.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// Who asks, as its connection knows.
struct Caller {
  Origin origin;
  std::string_view address;  // the client's, behind proxies that are trusted
};

// One request from its head to the end of its answer: asks the service, and an upstream if it may.
// Whatever it holds of the upstream and of the limits is given back when it ends.
//
// run() lasts until the answer has been given or the client is gone. Thread-safety: none.
class Exchange final : public std::enable_shared_from_this<Exchange> {
 public:
  // The client outlives run().
  Exchange(std::shared_ptr<GatewayCore> core, Downstream& client, const net::Executor& executor);

  // The head is looked at until Downstream::release_head() or the answer.
  static net::Awaitable<void> run(std::shared_ptr<Exchange> self, const RequestHead& head,
                                  Caller caller);
  // The client is gone: nobody needs the answer.
  void abandon();

 private:
  enum class Outcome : std::uint8_t { Answered, Stale, Failed };

  void begin(const RequestHead& head, const ForwardedRequest& request, const Caller& caller);
  [[nodiscard]] std::optional<Trouble> admit(const RequestFacts& facts, const Route& route);
  [[nodiscard]] net::Awaitable<std::optional<Trouble>> take_seat(const RequestFacts& facts);
  [[nodiscard]] net::Awaitable<bool> decide(const RequestFacts& facts, std::string_view domain);
  [[nodiscard]] net::Awaitable<void> forward(std::string head);
  [[nodiscard]] net::Awaitable<bool> connect(std::size_t server);
  [[nodiscard]] net::Awaitable<Outcome> ask(std::string_view head);
  [[nodiscard]] net::Awaitable<bool> send_first(std::string_view head);
  [[nodiscard]] net::Awaitable<std::size_t> read_head();
  [[nodiscard]] net::Awaitable<void> relay(std::size_t head_bytes);
  [[nodiscard]] net::Awaitable<bool> relay_body(BodyDecoder& decoder);
  [[nodiscard]] net::Awaitable<void> answer(http::Response response);
  static net::Awaitable<void> pump(std::shared_ptr<Exchange> self,
                                   std::shared_ptr<UpstreamConnection> connection);
  [[nodiscard]] net::Awaitable<bool> pump_piece(UpstreamConnection& connection,
                                                Downstream::BodyPiece piece);
  [[nodiscard]] net::Awaitable<void> stop_pump();
  [[nodiscard]] AnswerHead answer_head();
  [[nodiscard]] std::vector<Field> request_trailers(bool is_last);
  [[nodiscard]] Trailers may_have_trailers(const ResponseHead& head) const noexcept;
  [[nodiscard]] bool may_repeat() const noexcept;
  [[nodiscard]] Trouble why_no_answer() const noexcept;
  void enter_waiting();
  void finish();

  std::shared_ptr<GatewayCore> core_;
  Downstream& client_;
  net::Timer event_;  // never expires: cancelled when what is awaited has happened
  net::Timer pump_done_;
  base::Deadline started_;

  // Of the request:
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  ResponseHeadReader::Asked asked_ = ResponseHeadReader::Asked::Other;
  Version version_ = Version::Http11;
  bool is_idempotent_ = false;
  bool wants_upgrade_ = false;
  AccessEntry entry_{};
  answer::HeaderFields rate_fields_{};
  std::optional<http::Response> refusal_{};
  std::optional<InFlight::Place> client_place_{};
  std::optional<InFlight::Place> upstream_place_{};
  SharedSeats::Seat seat_{};

  // Of the attempt:
  std::shared_ptr<Upstream> upstream_{};
  std::size_t upstream_number_ = 0;
  std::shared_ptr<UpstreamConnection> connection_{};
  bool is_reused_ = false;
  std::size_t written_before_ = 0;
  std::size_t received_before_ = 0;
  std::optional<Trouble> trouble_{};
  std::string_view why_{};  // of BadAnswer, one of our own texts

  bool body_begun_ = false;    // some of it is gone from the client's connection
  bool request_done_ = false;  // all of it is sent
  bool answer_begun_ = false;  // the client has heard of it
  bool pumping_ = false;
  bool stopping_pump_ = false;
  bool is_gone_ = false;  // the client
};

}  // namespace penstock::gateway
