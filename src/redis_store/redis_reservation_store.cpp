#include "redis_store/redis_reservation_store.hpp"

#include "redis_store/batch/batching.hpp"
#include "redis_store/batch/decide_command.hpp"
#include "redis_store/replay/reservation_codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::redis_store {
namespace {

// Arguments of reservation.lua after the id; those that a step does not need are empty.
struct Words {
  std::string_view what;
  std::array<std::string, 5> more{};
};

std::string in_milliseconds(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

Words words_of(const store::reservation::Begin& what) {
  return {"begin",
          {what.claimant, in_milliseconds(store::ReservationStore::kPendingTimeout),
           std::to_string(RedisReservationStore::kMaxOpen)}};
}
Words words_of(const store::reservation::Confirm& what) {
  return {"confirm",
          {what.claimant, std::to_string(what.estimate), std::to_string(what.lasts.count()),
           in_milliseconds(store::ReservationStore::keep_for(what.lasts)), encode(what.held)}};
}
Words words_of(const store::reservation::Drop& what) { return {"drop", {what.claimant}}; }
Words words_of(const store::reservation::Commit& what) {
  return {"commit",
          {what.settler, std::to_string(what.actual),
           std::to_string(store::ReservationStore::kRefundTimeout.count())}};
}
Words words_of(const store::reservation::Cancel& what) { return {"cancel", {what.settler}}; }
Words words_of(const store::reservation::Expire& what) { return {"expire", {what.settler}}; }
Words words_of(const store::reservation::Refunded& /*what*/) { return {"refunded"}; }
Words words_of(const store::reservation::Note& what) {
  return {"note", {std::to_string(what.uncharged)}};
}

Result<std::vector<std::string>> read_ids(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  if (!reply->is(resp::Value::Type::Array)) return malformed("no list of reservations");
  std::vector<std::string> ids;
  for (const resp::Value& id : reply->elements) ids.push_back(id.text);
  return ids;
}

}  // namespace

void RedisReservationStore::ask(store::ReservationRequest ask, base::Deadline deadline,
                                store::Answered<store::ReservationAnswer> answered) {
  if (store_ == nullptr) return answered(store_closed());
  const std::string record = layout_.reservation(ask.id);
  const std::string open = layout_.reservations();
  const Words words = std::visit([](const auto& what) { return words_of(what); }, ask.what);
  const auto& more = words.more;
  // an expiry has no waiting caller, and units lost on the way would never be refunded
  const bool is_awaited = !std::holds_alternative<store::reservation::Expire>(ask.what);
  store_->run(
      store_->scripts().reservation(), {record, open},
      {words.what, ask.id, more[0], more[1], more[2], more[3], more[4]},
      is_awaited ? std::min(deadline, base::deadline_after(timeout_)) : deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_reservation(reply)); });
}

void RedisReservationStore::due(std::size_t most, base::Deadline deadline,
                                store::Answered<std::vector<std::string>> answered) {
  if (store_ == nullptr) return answered(store_closed());
  const std::string open = layout_.reservations();
  store_->run(store_->scripts().due_reservations(), {open}, {std::to_string(most)}, deadline,
              [answered = std::move(answered)](const auto& reply) { answered(read_ids(reply)); });
}

}  // namespace penstock::redis_store
