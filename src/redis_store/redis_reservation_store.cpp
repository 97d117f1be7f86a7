#include "redis_store/redis_reservation_store.hpp"

#include "base/text.hpp"
#include "redis_store/replay/state_codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::redis_store {
namespace {

using store::HeldUnits;
using store::Reservation;
using store::ReservationState;

constexpr unsigned kNumber = 8;
constexpr unsigned kLength = 4;
// Flag in counts_for: the lifetime of a strict lease follows.
constexpr std::uint64_t kStrict = std::uint64_t{1} << 63U;

// Consumes parts from the front; is_good() until one is missing.
class Parts {
 public:
  explicit Parts(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint64_t number(unsigned bytes) {
    const std::string_view part = take(bytes);
    return part.size() < bytes ? 0 : PackedReader(part).number(bytes);
  }
  [[nodiscard]] std::string text() { return std::string(take(number(kLength))); }
  [[nodiscard]] bool is_good() const noexcept { return is_good_; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

 private:
  std::string_view take(std::size_t bytes) {
    is_good_ = is_good_ && rest_.size() >= bytes;
    const std::string_view part = rest_.substr(0, bytes);
    rest_.remove_prefix(part.size());
    return part;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

std::optional<ReservationState> state_of(std::string_view letter) {
  if (letter == "p") return ReservationState::Pending;
  if (letter == "o") return ReservationState::Open;
  if (letter == "c") return ReservationState::Committed;
  if (letter == "x") return ReservationState::Cancelled;
  if (letter == "e") return ReservationState::Expired;
  return std::nullopt;
}

// Zero for a missing part.
std::optional<std::uint64_t> number_of(const resp::Value& part) {
  if (part.is(resp::Value::Type::Nil)) return 0;
  return base::parse_number<std::uint64_t>(part.text);
}

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
      store_->scripts().reservation, {record, open},
      {words.what, ask.id, more[0], more[1], more[2], more[3], more[4]},
      is_awaited ? std::min(deadline, base::deadline_after(timeout_)) : deadline,
      [answered = std::move(answered)](const auto& reply) { answered(read_reservation(reply)); });
}

void RedisReservationStore::due(std::size_t most, base::Deadline deadline,
                                store::Answered<std::vector<std::string>> answered) {
  if (store_ == nullptr) return answered(store_closed());
  const std::string open = layout_.reservations();
  store_->run(store_->scripts().due_reservations, {open}, {std::to_string(most)}, deadline,
              [answered = std::move(answered)](const auto& reply) { answered(read_ids(reply)); });
}

std::string encode(const std::vector<HeldUnits>& held) {
  PackedWriter writer;
  for (const HeldUnits& each : held) {
    writer.number(each.weight, kNumber);
    const bool is_strict = each.terms.mode == core::Mode::LeaseStrict;
    const auto counts_for = static_cast<std::uint64_t>(each.counts_for.count());
    writer.number(counts_for | (is_strict ? kStrict : 0), kNumber);
    if (is_strict) {
      writer.number(static_cast<std::uint64_t>(each.terms.lifetime.count()), kNumber);
    }
    for (const std::string& text : {each.name.subject, each.name.limit, to_string(each.quota)}) {
      writer.number(text.size(), kLength).text(text);
    }
  }
  return std::move(writer).bytes();
}

std::optional<std::vector<HeldUnits>> decode_held(std::string_view bytes) {
  std::vector<HeldUnits> held;
  Parts parts(bytes);
  while (parts.is_good() && !parts.at_end()) {
    const std::uint64_t weight = parts.number(kNumber);
    const std::uint64_t counts_for = parts.number(kNumber);
    core::SharingTerms terms;
    if ((counts_for & kStrict) != 0) {
      const auto lifetime = static_cast<std::int64_t>(parts.number(kNumber));
      if (lifetime <= 0) return std::nullopt;
      terms = {.mode = core::Mode::LeaseStrict, .lifetime = Duration{lifetime}};
    }
    std::string subject = parts.text();
    std::string limit = parts.text();
    const Result<Quota> quota = Quota::parse(parts.text());
    if (!quota) return std::nullopt;
    held.push_back({.name = {std::move(subject), std::move(limit)},
                    .quota = *quota,
                    .weight = weight,
                    .counts_for = Duration{static_cast<std::int64_t>(counts_for & ~kStrict)},
                    .terms = terms});
  }
  if (!parts.is_good()) return std::nullopt;
  return held;
}

Result<store::ReservationAnswer> read_reservation(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  if (parts.size() != 10 || !parts[0].is(resp::Value::Type::Integer)) {
    return malformed("not a reservation");
  }
  if (parts[0].integer < 0) {
    return Error{ErrorCode::CapacityExhausted, "too many reservations are open"};
  }
  store::ReservationAnswer answer{.done = parts[0].integer == 1};
  if (parts[2].is(resp::Value::Type::Nil)) return answer;
  const Result<Instant> now = read_instant(parts[1]);
  if (!now) return now.error();
  const auto state = state_of(parts[2].text);
  const auto begun = number_of(parts[3]);
  const auto ends = number_of(parts[4]);
  const auto estimate = number_of(parts[5]);
  const auto actual = number_of(parts[6]);
  const auto uncharged = number_of(parts[7]);
  auto held = decode_held(parts[8].text);
  if (!state || !begun || !ends || !estimate || !actual || !uncharged || !held) {
    return malformed("an unreadable reservation");
  }
  const auto since = [&](std::uint64_t micros) {
    return now->time_since_epoch() - Duration{static_cast<std::int64_t>(micros)};
  };
  Reservation& before =
      answer.before.emplace(Reservation{.state = *state,
                                        .estimate = *estimate,
                                        .actual = *actual,
                                        .age = std::max(since(*begun), Duration{0}),
                                        .held = *std::move(held),
                                        .claimant = parts[9].text});
  if (!parts[7].is(resp::Value::Type::Nil)) before.uncharged = *uncharged;
  if (*state == ReservationState::Open) before.left = std::max(-since(*ends), Duration{0});
  return answer;
}

}  // namespace penstock::redis_store
