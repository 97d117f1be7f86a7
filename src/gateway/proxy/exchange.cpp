#include "gateway/proxy/exchange.hpp"

#include "answer/verdict.hpp"
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

// What the service gets to decide; its store has a time limit of its own, much below.
constexpr Duration kDecideTimeout = std::chrono::seconds{1};

// What comes of a question to the service, however long it takes.
struct Decided {
  std::optional<service::Answer> answer{};
  net::Timer* waiting = nullptr;
};

// The same of a question for a seat.
struct SeatAsked {
  std::optional<SharedSeats::Outcome> outcome{};
  SharedSeats::Seat seat{};
  net::Timer* waiting = nullptr;
};

}  // namespace

Exchange::Exchange(std::shared_ptr<GatewayCore> core, Downstream& client,
                   const net::Executor& executor)
    : core_(std::move(core)),
      client_(client),
      event_(executor, base::Deadline::max()),
      pump_done_(executor, base::Deadline::max()),
      started_(base::monotonic_now()) {}

Awaitable<void> Exchange::run(std::shared_ptr<Exchange> self, const RequestHead& head,
                              Caller caller) {
  const ForwardedRequest request(head, caller.origin, self->core_->settings);
  self->begin(head, request, caller);
  if (request.refusal()) {
    co_await self->answer(to_response(*request.refusal()));
    co_return self->finish();
  }
  const RequestFacts facts(request, {.address = caller.address, .scheme = caller.origin.scheme});
  const Route* const route = self->core_->routes.find(facts.host(), facts.path());
  std::optional<Trouble> trouble = Trouble::NoRoute;
  if (route != nullptr) trouble = self->admit(facts, *route);
  const std::string_view prefix = route == nullptr ? std::string_view{} : route->strip_prefix;
  const Result<std::string_view> path =
      without_prefix(request.path().forwarded, prefix, self->core_->settings.paths.letter_case);
  if (!trouble && !path) trouble = Trouble::BadPath;
  if (!trouble && self->client_.body().is_broken) trouble = Trouble::BadBody;
  if (!trouble) trouble = co_await self->take_seat(facts);
  if (trouble) {
    if (*trouble == Trouble::NoRoute) self->core_->metrics.refused(Refused::NoRoute);
    co_await self->answer(answer_of(*trouble, {}));
  } else if (co_await self->decide(facts, route->domain)) {
    std::string text = request.text(*path);
    self->client_.release_head();
    co_await self->forward(std::move(text));
  } else {
    co_await self->answer(*std::move(self->refusal_));
  }
  self->finish();
}

void Exchange::begin(const RequestHead& head, const ForwardedRequest& request,
                     const Caller& caller) {
  framing_ = upstream_framing(head).kind;
  version_ = head.version;
  is_idempotent_ = is_idempotent(head.method);
  wants_upgrade_ = !request.upgrade().empty() && client_.wire() != nullptr;
  if (head.method == "HEAD") asked_ = ResponseHeadReader::Asked::Head;
  ++core_->statistics.requests;
  if (!core_->log.is_on()) return;
  entry_ = {.time = core_->clock.now(),
            .client = std::string(caller.address),
            .method = std::string(head.method),
            .target = std::string(head.path).append(head.query),
            .host = std::string(head.host),
            .referer = std::string(head.field("referer")),
            .agent = std::string(head.field("user-agent")),
            .version = head.version};
}

// Before the limits are asked: what is refused here costs the client nothing.
std::optional<Trouble> Exchange::admit(const RequestFacts& facts, const Route& route) {
  upstream_number_ = route.upstream;
  upstream_ = core_->upstreams[route.upstream];
  const rules::InFlightSettings& per_client = core_->settings.max_in_flight;
  if (per_client.limit > 0) {
    const std::string_view client = facts.value(per_client.key);
    if (!client.empty()) {
      client_place_ = core_->in_flight.take(client, per_client.limit);
      if (!client_place_) {
        core_->metrics.refused(Refused::ClientInFlight);
        return Trouble::ClientInFlight;
      }
    }
  }
  upstream_place_ = core_->in_flight.take(route.upstream, upstream_->settings().max_in_flight);
  if (upstream_place_) return std::nullopt;
  core_->metrics.refused(Refused::UpstreamInFlight);
  return Trouble::UpstreamInFlight;
}

// The same on all nodes. When the store cannot be asked, what admit() said is all there is.
Awaitable<std::optional<Trouble>> Exchange::take_seat(const RequestFacts& facts) {
  if (core_->seats == nullptr) co_return std::nullopt;
  const std::string_view client = facts.value(core_->settings.max_in_flight.key);
  if (client.empty()) co_return std::nullopt;
  const auto asked = std::make_shared<SeatAsked>();
  core_->seats->take(client, base::deadline_after(kDecideTimeout),
                     [asked](SharedSeats::Outcome outcome, SharedSeats::Seat seat) {
                       asked->outcome = outcome;
                       asked->seat = std::move(seat);
                       if (asked->waiting != nullptr) asked->waiting->cancel();
                     });
  if (!asked->outcome) {
    asked->waiting = &event_;
    co_await event_.async_wait(kIo);
    asked->waiting = nullptr;
  }
  seat_ = std::move(asked->seat);
  if (asked->outcome == SharedSeats::Outcome::NotAsked) core_->metrics.unshared();
  if (asked->outcome != SharedSeats::Outcome::Full) co_return std::nullopt;
  core_->metrics.refused(Refused::ClientInFlight);
  co_return Trouble::ClientInFlight;
}

// Whether the request may pass; else refusal_ says why not.
Awaitable<bool> Exchange::decide(const RequestFacts& facts, std::string_view domain) {
  rules::Request request{.domain = domain, .descriptors = {}, .cost = {}};
  request.descriptors.push_back({.entries = facts.attributes()});
  const auto decided = std::make_shared<Decided>();
  core_->service.decide(request, base::deadline_after(kDecideTimeout),
                        [decided](service::Answer answer) {
                          decided->answer.emplace(std::move(answer));
                          if (decided->waiting != nullptr) decided->waiting->cancel();
                        });
  if (!decided->answer) {
    decided->waiting = &event_;
    co_await event_.async_wait(kIo);
    decided->waiting = nullptr;
  }
  const answer::Verdict verdict = answer::verdict_of(*decided->answer, domain);
  if (core_->log.is_on()) entry_.decision = to_string(verdict.reason);
  if (verdict.allowed) {
    answer::add_rate_headers(rate_fields_, core_->drafts, rate_facts(verdict));
  } else {
    refusal_ = refusal(verdict, status_of(verdict), core_->drafts);
  }
  co_return verdict.allowed;
}

Awaitable<void> Exchange::answer(http::Response response) {
  if (is_gone_) co_return;
  if (answer_begun_) {
    client_.cut_answer();
    entry_.cut = true;
    co_return;
  }
  answer_begun_ = true;
  std::vector<Field> fields;
  for (const auto& [name, value] : response.fields) fields.push_back({name, value});
  const AnswerHead head{
      .status = response.status,
      .reason = http::reason_of(response.status),
      .fields = fields,
      .body = {.kind = BodyFraming::Kind::Length, .length = response.body.size()}};
  entry_.status = response.status;
  ++core_->statistics.responses.at(response.status / 100);
  const bool has_body = asked_ != ResponseHeadReader::Asked::Head;
  const std::string_view body = has_body ? std::string_view(response.body) : std::string_view{};
  entry_.bytes = body.size();
  static_cast<void>(co_await client_.send_head(head, body, Last::Yes, {}));
}

void Exchange::abandon() {
  is_gone_ = true;
  if (connection_ != nullptr) connection_->close();
}

void Exchange::finish() {
  connection_.reset();
  client_place_.reset();
  upstream_place_.reset();
  seat_.leave();
  if (!core_->log.is_on()) return;
  entry_.took =
      std::chrono::duration_cast<std::chrono::microseconds>(base::monotonic_now() - started_);
  core_->log.write(entry_);
}

}  // namespace penstock::gateway
