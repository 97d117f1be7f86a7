#include "gateway/proxy/exchange.hpp"

#include "answer/check_response.hpp"
#include "base/deadline.hpp"
#include "gateway/http1/field_text.hpp"
#include "gateway/proxy/forwarded_request.hpp"
#include "http/response_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::gateway {
namespace {

using net::Awaitable;
using net::kIo;

// Timeout of a decision; the store's own timeout is much shorter.
constexpr Duration kDecideTimeout = std::chrono::seconds{1};

// Result of a pending decision.
struct Decided {
  std::optional<service::Answer> answer{};
  net::Timer* waiting = nullptr;
};

// Result of a pending permit.
struct PendingPermit {
  std::optional<SharedPermits::Outcome> outcome{};
  SharedPermits::Permit permit{};
  net::Timer* waiting = nullptr;
};

}  // namespace

Exchange::Exchange(std::shared_ptr<GatewayContext> context, Downstream& client,
                   const net::Executor& executor)
    : context_(std::move(context)),
      client_(client),
      event_(executor, base::Deadline::max()),
      pump_done_(executor, base::Deadline::max()),
      started_(base::monotonic_now()) {}

Awaitable<void> Exchange::run(std::shared_ptr<Exchange> self, const RequestHead& head,
                              Caller caller) {
  const ForwardedRequest request(head, caller.origin, self->context_->settings);
  self->begin(head, request, caller);
  if (request.rejection()) {
    co_await self->answer(to_response(*request.rejection()));
    co_return self->finish();
  }
  const RequestAttributes attributes(request,
                                     {.address = caller.address, .scheme = caller.origin.scheme});
  const Route* const route = self->context_->routes.find(attributes.host(), attributes.path());
  std::optional<ProxyError> error = ProxyError::NoRoute;
  if (route != nullptr) error = self->admit(attributes, *route);
  const std::string_view prefix = route == nullptr ? std::string_view{} : route->strip_prefix;
  const Result<std::string_view> path =
      without_prefix(request.path().forwarded, prefix, self->context_->settings.paths.letter_case);
  if (!error && !path) error = ProxyError::InvalidPath;
  if (!error && self->client_.body().is_broken) error = ProxyError::MalformedBody;
  if (!error) error = co_await self->acquire_permit(attributes);
  if (error) {
    if (*error == ProxyError::NoRoute) self->context_->metrics.rejected(RejectReason::NoRoute);
    co_await self->answer(error_response(*error, {}));
  } else if (co_await self->decide(attributes, route->domain)) {
    std::string text = request.text(*path);
    self->client_.release_head();
    co_await self->forward(std::move(text));
  } else {
    co_await self->answer(*std::move(self->denial_));
  }
  self->finish();
}

void Exchange::begin(const RequestHead& head, const ForwardedRequest& request,
                     const Caller& caller) {
  framing_ = upstream_framing(head).kind;
  version_ = head.version;
  is_idempotent_ = is_idempotent(head.method);
  wants_upgrade_ = !request.upgrade().empty() && client_.raw_stream() != nullptr;
  if (head.method == "HEAD") request_method_ = ResponseHeadReader::RequestMethod::Head;
  ++context_->statistics.requests;
  if (!context_->log.is_on()) return;
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
  upstream_ = context_->upstreams[route.upstream];
  const rules::InFlightSettings& per_client = context_->settings.max_in_flight;
  if (per_client.limit > 0) {
    const std::string_view client = attributes.value(per_client.key);
    if (!client.empty()) {
      client_permit_ = context_->in_flight.acquire(client, per_client.limit);
      if (!client_permit_) {
        context_->metrics.rejected(RejectReason::ClientInFlight);
        return ProxyError::ClientInFlight;
      }
    }
  }
  upstream_permit_ =
      context_->in_flight.acquire(route.upstream, upstream_->settings().max_in_flight);
  if (upstream_permit_) return std::nullopt;
  context_->metrics.rejected(RejectReason::UpstreamInFlight);
  return ProxyError::UpstreamInFlight;
}

// Enforces the limit across all nodes. When the store is unavailable, only the local limit of
// admit() applies.
Awaitable<std::optional<ProxyError>> Exchange::acquire_permit(const RequestAttributes& attributes) {
  if (context_->permits == nullptr) co_return std::nullopt;
  const std::string_view client = attributes.value(context_->settings.max_in_flight.key);
  if (client.empty()) co_return std::nullopt;
  const auto pending = std::make_shared<PendingPermit>();
  context_->permits->acquire(
      client, base::deadline_after(kDecideTimeout),
      [pending](SharedPermits::Outcome outcome, SharedPermits::Permit permit) {
        pending->outcome = outcome;
        pending->permit = std::move(permit);
        if (pending->waiting != nullptr) pending->waiting->cancel();
      });
  if (!pending->outcome) {
    pending->waiting = &event_;
    co_await event_.async_wait(kIo);
    pending->waiting = nullptr;
  }
  permit_ = std::move(pending->permit);
  if (pending->outcome == SharedPermits::Outcome::StoreUnavailable)
    context_->metrics.shared_limit_unavailable();
  if (pending->outcome != SharedPermits::Outcome::LimitReached) co_return std::nullopt;
  context_->metrics.rejected(RejectReason::ClientInFlight);
  co_return ProxyError::ClientInFlight;
}

// Returns whether the request may pass; otherwise denial_ holds the response.
Awaitable<bool> Exchange::decide(const RequestAttributes& attributes, std::string_view domain) {
  rules::Request request{.domain = domain, .descriptors = {}, .cost = {}};
  request.descriptors.push_back({.entries = attributes.attributes()});
  const auto decided = std::make_shared<Decided>();
  context_->service.decide(request, base::deadline_after(kDecideTimeout),
                           [decided](service::Answer answer) {
                             decided->answer.emplace(std::move(answer));
                             if (decided->waiting != nullptr) decided->waiting->cancel();
                           });
  if (!decided->answer) {
    decided->waiting = &event_;
    co_await event_.async_wait(kIo);
    decided->waiting = nullptr;
  }
  const service::Answer& answer = *decided->answer;
  if (context_->log.is_on()) entry_.decision = to_string(answer.reason);
  if (answer.allowed) {
    answer::add_rate_headers(rate_fields_, context_->drafts, answer::rate_limit_info(answer));
  } else {
    denial_ = answer::denial_response(answer, answer::status_of(answer), context_->drafts);
  }
  co_return answer.allowed;
}

Awaitable<void> Exchange::answer(http::Response response) {
  if (client_disconnected_) co_return;
  if (response_started_) {
    client_.abort_response();
    entry_.truncated = true;
    co_return;
  }
  response_started_ = true;
  std::vector<Field> fields;
  for (const auto& [name, value] : response.fields) fields.push_back({name, value});
  const ClientResponseHead head{
      .status = response.status,
      .reason = http::reason_phrase(response.status),
      .fields = fields,
      .body = {.kind = BodyFraming::Kind::Length, .length = response.body.size()}};
  entry_.status = response.status;
  ++context_->statistics.responses.at(response.status / 100);
  const bool has_body = request_method_ != ResponseHeadReader::RequestMethod::Head;
  const std::string_view body = has_body ? std::string_view(response.body) : std::string_view{};
  entry_.bytes = body.size();
  static_cast<void>(co_await client_.send_head(head, body, Last::Yes, {}));
}

void Exchange::abandon() {
  client_disconnected_ = true;
  if (connection_ != nullptr) connection_->close();
}

void Exchange::finish() {
  connection_.reset();
  client_permit_.reset();
  upstream_permit_.reset();
  permit_.release();
  if (!context_->log.is_on()) return;
  entry_.took =
      std::chrono::duration_cast<std::chrono::microseconds>(base::monotonic_now() - started_);
  context_->log.write(entry_);
}

}  // namespace penstock::gateway
