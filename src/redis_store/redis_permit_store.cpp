#include "redis_store/redis_permit_store.hpp"

#include <algorithm>
#include <utility>

namespace penstock::redis_store {

struct RedisPermitStore::Ask {
  std::string_view what;
  const store::PermitName& permit;
  Duration lasts{};
  std::uint32_t limit = 0;
};

void RedisPermitStore::run(const Ask& ask, base::Deadline deadline,
                           std::function<void(const Result<resp::Value>&)> replied) {
  if (store_ == nullptr) return replied(store_closed());
  const std::string key = layout_.permits(ask.permit.key);
  const std::string lasts = std::to_string(ask.lasts.count());
  const std::string limit = std::to_string(ask.limit);
  store_->run(store_->scripts().permits, {key}, {ask.what, ask.permit.id, lasts, limit},
              std::min(deadline, base::deadline_after(timeout_)), std::move(replied));
}

void RedisPermitStore::acquire(store::PermitName permit, std::uint32_t limit, Duration lasts,
                               base::Deadline deadline,
                               store::Answered<core::PermitResult> answered) {
  run({.what = "acquire", .permit = permit, .lasts = lasts, .limit = limit}, deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_permit_result(reply)); });
}

void RedisPermitStore::renew(store::PermitName permit, Duration lasts, base::Deadline deadline,
                             store::Answered<core::PermitResult> answered) {
  run({.what = "renew", .permit = permit, .lasts = lasts}, deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_permit_result(reply)); });
}

void RedisPermitStore::release(store::PermitName permit, base::Deadline deadline,
                               store::Answered<bool> answered) {
  run({.what = "release", .permit = permit}, deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_flag(reply)); });
}

Result<core::PermitResult> read_permit_result(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  const auto is_number = [](const resp::Value& part) {
    return part.is(resp::Value::Type::Integer);
  };
  if (parts.size() != 3 || !std::all_of(parts.begin(), parts.end(), is_number)) {
    return malformed("not a permit");
  }
  return core::PermitResult{.held = parts[0].integer == 1,
                            .taken = static_cast<std::uint32_t>(parts[1].integer),
                            .lasts = Duration{parts[2].integer}};
}

}  // namespace penstock::redis_store
