// Concurrency limits: permits are acquired, renewed and released.
#include "service/random_id.hpp"
#include "wire/resp/check_reply.hpp"
#include "wire/resp/commands.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

using core::PermitResult;
using std::chrono::milliseconds;
using store::PermitName;
using store::PermitStore;

constexpr std::string_view kWrongTtl =
    "ERR the ttl must be a number of milliseconds from 1 to 86400000";

// Empty, after an error reply, when it is invalid.
std::optional<PermitName> read_permit(const CommandContext& context) {
  PermitName permit{.key = std::string(context.word(1)), .id = std::string(context.word(2))};
  if (permit.key.empty()) {
    context.error("ERR the key is empty");
    return std::nullopt;
  }
  if (permit.id.empty() || permit.id.size() > PermitStore::kMaxIdLength) {
    context.error("ERR the id must have 1 to 200 bytes");
    return std::nullopt;
  }
  return permit;
}

std::optional<Duration> read_ttl(std::string_view text) {
  constexpr auto kMost = std::chrono::duration_cast<milliseconds>(PermitStore::kMaxLifetime);
  const std::optional<std::int64_t> ttl = parse_number(text);
  if (!ttl || *ttl < 1 || *ttl > kMost.count()) return std::nullopt;
  return milliseconds{*ttl};
}

}  // namespace

// PENSTOCK.ACQUIRE key id limit ttl_ms. An id of * is generated; an id with a permit keeps it. In
// RESP2 an array, in RESP3 a map of:
//   0  denied            1 when all permits are taken, else 0
//   1  id                null when denied
//   2  in_use            permits that are taken now
//   3  limit
//   4  expires_after_ms  -1 when denied
//   5  retry_after_ms    until a permit expires unless renewed; -1 when one was granted
// When the store is unavailable, the reply is an error, never a denial.
void penstock_acquire(const CommandContext& context) {
  std::optional<PermitName> permit = read_permit(context);
  if (!permit) return;
  if (permit->id == "*") permit->id = service::random_id();
  const std::optional<std::int64_t> limit = parse_number(context.word(3));
  if (!limit || *limit < 1 || *limit > PermitStore::kMaxPermits) {
    return context.error("ERR the limit must be a whole number from 1 to 1000000");
  }
  const std::optional<Duration> ttl = read_ttl(context.word(4));
  if (!ttl) return context.error(kWrongTtl);
  context.stores().permits.acquire(
      *permit, static_cast<std::uint32_t>(*limit), *ttl, context.deadline(),
      [deferred = context.defer(), id = permit->id,
       limit = *limit](const Result<PermitResult>& answer) {
        if (!answer) return deferred.fail(answer.error());
        const std::int64_t time = in_milliseconds(answer->lasts);
        deferred.reply([&](ReplyWriter& reply) {
          NamedReply named(reply, 6);
          named.number("denied", answer->held ? 0 : 1);
          named.text("id", answer->held ? std::string_view(id) : std::string_view{});
          named.number("in_use", answer->taken);
          named.number("limit", limit);
          named.number("expires_after_ms", answer->held ? time : -1);
          named.number("retry_after_ms", answer->held ? -1 : time);
        });
      });
}

// PENSTOCK.RENEW key id ttl_ms: milliseconds until the permit expires; -1 when he has none.
void penstock_renew(const CommandContext& context) {
  const std::optional<PermitName> permit = read_permit(context);
  if (!permit) return;
  const std::optional<Duration> ttl = read_ttl(context.word(3));
  if (!ttl) return context.error(kWrongTtl);
  context.stores().permits.renew(
      *permit, *ttl, context.deadline(),
      [deferred = context.defer()](const Result<PermitResult>& answer) {
        if (!answer) return deferred.fail(answer.error());
        deferred.reply([&](ReplyWriter& reply) {
          reply.integer(answer->held ? in_milliseconds(answer->lasts) : -1);
        });
      });
}

// PENSTOCK.RELEASE key id: 1 when he had a permit, else 0.
void penstock_release(const CommandContext& context) {
  const std::optional<PermitName> permit = read_permit(context);
  if (!permit) return;
  context.stores().permits.release(
      *permit, context.deadline(), [deferred = context.defer()](const Result<bool>& was_held) {
        if (!was_held) return deferred.fail(was_held.error());
        deferred.reply([&](ReplyWriter& reply) { reply.integer(*was_held ? 1 : 0); });
      });
}

}  // namespace penstock::wire::resp
