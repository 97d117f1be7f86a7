#include "redis_store/replay/reservation_codec.hpp"

#include "base/text.hpp"
#include "redis_store/batch/decide_command.hpp"
#include "redis_store/replay/packed.hpp"

#include <algorithm>
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

}  // namespace

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
