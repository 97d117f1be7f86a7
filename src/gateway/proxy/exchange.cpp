#include "gateway/proxy/exchange.hpp"

#include "answer/check_response.hpp"
#include "base/deadline.hpp"
#include "gateway/http1/fields.hpp"
#include "gateway/proxy/forwarded_request.hpp"
#include "http/response_text.hpp"

#include <utility>
#include <vector>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::kIo;

// Timeout of a decision; the store's own timeout is much shorter.
constexpr Duration kDecideTimeout = std::chrono::seconds{1};

}  // namespace

Exchange::Exchange(std::shared_ptr<GatewayContext> context, Downstream& client,
                   const net::Executor& executor)
    : context_(std::move(context)),
      config_(context_->config),
      client_(client),
      event_(executor, base::Deadline::max()),
      started_(base::monotonic_now()) {}

Awaitable<void> Exchange::run(std::shared_ptr<Exchange> self, const RequestHead& head,
                              Caller caller) {
  ProxyMachine& machine = self->machine_;
  const std::string text = co_await self->check(head, caller);
  while (machine.state() != State::Done) {
    switch (machine.state()) {
      case State::ChooseServer: self->choose_server(); break;
      case State::Connect: co_await self->connect(); break;
      case State::SendHead: co_await self->send_head(text); break;
      case State::ReadHead: {
        if (self->read_head()) break;
        const bool more = co_await self->connection_->more();
        if (!more) machine.on_response_ended(self->attempt());
        break;
      }
      case State::SendInterim:
        if (self->send_interim() == SendResult::Pending) {
          static_cast<void>(co_await self->client_.sent());
        }
        machine.on_interim_sent();
        break;
      case State::Relay: co_await self->relay(); break;
      case State::Tunnel: co_await self->tunnel(); break;
      case State::StopUpload: self->stop_upload(); [[fallthrough]];
      case State::FinishUpload:
        while (machine.is_uploading()) {
          co_await self->event_.async_wait(kIo);
        }
        self->report(machine.on_upload_over());
        break;
      default:  // Answer: check() leaves the states before ChooseServer
        if (self->answer() == SendResult::Pending) {
          static_cast<void>(co_await self->client_.sent());
        }
        machine.on_answered();
    }
  }
  self->finish();
}

Awaitable<std::string> Exchange::check(const RequestHead& head, Caller caller) {
  const ForwardedRequest request(head, caller.origin, config_->settings);
  begin(head, request, caller);
  if (request.rejection()) {
    response_ = to_response(*request.rejection());
    machine_.on_denied();
    co_return std::string{};
  }
  const RequestAttributes attributes(request,
                                     {.address = caller.address, .scheme = caller.origin.scheme});
  const Route* const route = config_->routes.find(attributes.host(), attributes.path());
  std::optional<ProxyError> error = ProxyError::NoRoute;
  if (route != nullptr) error = admit(attributes, *route);
  const std::string_view prefix = route == nullptr ? std::string_view{} : route->strip_prefix;
  const Result<std::string_view> path =
      without_prefix(request.path().forwarded, prefix, config_->settings.paths.letter_case);
  if (!error && !path) error = ProxyError::InvalidPath;
  if (!error && client_.body().is_broken) error = ProxyError::MalformedBody;
  if (error == ProxyError::NoRoute) config_->metrics.rejected(RejectReason::NoRoute);
  error ? machine_.on_rejected(*error) : machine_.on_admitted();
  if (machine_.state() == State::AcquirePermit) {
    acquire_permit(attributes);
    while (is_waiting_) {
      co_await event_.async_wait(kIo);
    }
  }
  if (machine_.state() == State::CheckLimits) {
    check_limits(attributes, route->domain);
    while (is_waiting_) {
      co_await event_.async_wait(kIo);
    }
    on_decision(*decision_);
  }
  if (machine_.state() != State::ChooseServer) co_return std::string{};
  std::string text = request.text(*path);
  client_.release_head();
  upstream_name_ = upstream_->settings().name;
  co_return text;
}

void Exchange::begin(const RequestHead& head, const ForwardedRequest& request,
                     const Caller& caller) {
  framing_ = upstream_framing(head).kind;
  version_ = head.version;
  machine_.start({.is_idempotent = is_idempotent(head.method),
                  .wants_upgrade = !request.upgrade().empty() && client_.can_switch_protocols()});
  if (head.method == "HEAD") request_method_ = ResponseHeadReader::RequestMethod::Head;
  ++context_->statistics.requests;
  if (!config_->log->is_on()) return;
  entry_ = {.time = context_->clock.now(),
            .client = std::string(caller.address),
            .method = std::string(head.method),
            .target = std::string(head.path).append(head.query),
            .host = std::string(head.host),
            .referer = std::string(head.field("referer")),
            .agent = std::string(head.field("user-agent")),
            .version = head.version};
}

// Runs before the limits are checked: a rejection here is not charged.
std::optional<ProxyError> Exchange::admit(const RequestAttributes& attributes, const Route& route) {
  upstream_number_ = route.upstream;
  upstream_ = config_->upstreams[route.upstream];
  const rules::InFlightSettings& per_client = config_->settings.max_in_flight;
  const std::string_view client =
      per_client.limit > 0 ? attributes.value(per_client.key) : std::string_view{};
  if (!client.empty()) {
    client_permit_ = context_->in_flight.acquire(client, per_client.limit);
    if (!client_permit_) {
      config_->metrics.rejected(RejectReason::ClientInFlight);
      return ProxyError::ClientInFlight;
    }
  }
  upstream_permit_ =
      InFlight::acquire(*config_->in_flight[route.upstream], upstream_->settings().max_in_flight);
  if (upstream_permit_) return std::nullopt;
  config_->metrics.rejected(RejectReason::UpstreamInFlight);
  return ProxyError::UpstreamInFlight;
}

// Enforces the limit across all nodes. When the store is unavailable, only the local limit of
// admit() applies.
void Exchange::acquire_permit(const RequestAttributes& attributes) {
  if (!config_->has_shared_limit()) return machine_.on_permit();
  const std::string_view client = attributes.value(config_->settings.max_in_flight.key);
  if (client.empty()) return machine_.on_permit();
  is_waiting_ = true;
  context_->permits->acquire(
      client, base::deadline_after(kDecideTimeout),
      [self = shared_from_this()](SharedPermits::Outcome outcome, SharedPermits::Permit permit) {
        self->permit_ = std::move(permit);
        if (outcome == SharedPermits::Outcome::StoreUnavailable) {
          self->config_->metrics.shared_limit_unavailable();
        }
        if (outcome == SharedPermits::Outcome::LimitReached) {
          self->config_->metrics.rejected(RejectReason::ClientInFlight);
          self->machine_.on_rejected(ProxyError::ClientInFlight);
        }
        self->machine_.on_permit();
        self->stop_waiting();
      });
}

void Exchange::check_limits(const RequestAttributes& attributes, std::string_view domain) {
  rules::Request request{.domain = domain, .descriptors = {}, .cost = {}};
  request.descriptors.push_back({.entries = attributes.attributes()});
  is_waiting_ = true;
  context_->service.decide(request, base::deadline_after(kDecideTimeout),
                           [self = shared_from_this()](service::Answer decision) {
                             self->decision_.emplace(std::move(decision));
                             self->stop_waiting();
                           });
}

void Exchange::on_decision(const service::Answer& decision) {
  if (config_->log->is_on()) entry_.decision = to_string(decision.reason);
  if (decision.allowed) {
    answer::add_rate_headers(rate_fields_, config_->drafts, answer::rate_limit_info(decision));
    machine_.on_allowed();
  } else {
    response_ = answer::denial_response(decision, answer::status_of(decision), config_->drafts);
    machine_.on_denied();
  }
}

void Exchange::stop_waiting() {
  is_waiting_ = false;
  event_.cancel();
}

SendResult Exchange::answer() {
  release_server();
  if (machine_.error()) response_ = error_response(*machine_.error(), upstream_name_, why_);
  std::vector<Field> fields;
  for (const auto& [name, value] : response_.fields) fields.push_back({name, value});
  const ClientResponseHead head{
      .status = response_.status,
      .reason = http::reason_phrase(response_.status),
      .fields = fields,
      .body = {.kind = BodyFraming::Kind::Length, .length = response_.body.size()}};
  entry_.status = response_.status;
  ++context_->statistics.responses.at(response_.status / 100);
  const bool has_body = request_method_ != ResponseHeadReader::RequestMethod::Head;
  const std::string_view body = has_body ? std::string_view(response_.body) : std::string_view{};
  entry_.bytes = body.size();
  return client_.send_head(head, body, Last::Yes, {});
}

void Exchange::abandon() {
  machine_.on_client_disconnected();
  if (connection_ != nullptr) connection_->close();
}

void Exchange::finish() {
  if (machine_.keeps_connection()) upstream_->put_idle(std::exchange(connection_, nullptr));
  release_server();
  silence_.reset();
  client_permit_.reset();
  upstream_permit_.reset();
  permit_.release();
  if (!config_->log->is_on()) return;
  entry_.upstream = upstream_name_;
  entry_.took =
      std::chrono::duration_cast<std::chrono::microseconds>(base::monotonic_now() - started_);
  config_->log->write(entry_);
}

}  // namespace penstock::gateway
