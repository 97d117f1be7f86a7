#include "store/reservation_record.hpp"

#include <algorithm>
#include <utility>

namespace penstock::store {
namespace {

using Record = std::optional<ReservationRecord>;
using State = ReservationState;

bool is(const Record& record, State state) { return record && record->state == state; }

bool is_pending_for(const Record& record, const std::string& claimant) {
  return is(record, State::Pending) && record->claimant == claimant;
}

void settle(ReservationRecord& record, State state, Instant now) {
  record.state = state;
  record.forgotten = now + record.keep;
  if (state != State::Expired) record.held.clear();
}

bool apply(Record& record, const reservation::Begin& what, Instant now) {
  if (record) return false;
  record = ReservationRecord{
      .claimant = what.claimant, .begun = now, .forgotten = now + ReservationBook::kPendingLasts};
  return true;
}

bool apply(Record& record, const reservation::Confirm& what, Instant now) {
  if (!is_pending_for(record, what.claimant)) return false;
  record->state = State::Open;
  record->estimate = what.estimate;
  record->held = what.held;
  record->ends = now + what.lasts;
  record->keep = ReservationBook::keep_for(what.lasts);
  record->forgotten = record->ends + record->keep;
  return true;
}

bool apply(Record& record, const reservation::Drop& what, Instant /*now*/) {
  if (!is_pending_for(record, what.claimant)) return false;
  record.reset();
  return true;
}

bool apply(Record& record, const reservation::Commit& what, Instant now) {
  if (!is(record, State::Open) && !is(record, State::Expired)) return false;
  const bool is_covered = record->state == State::Open && what.actual <= record->estimate;
  settle(*record, State::Committed, now);
  record->actual = what.actual;
  if (is_covered) record->uncharged = 0;
  return true;
}

bool apply(Record& record, const reservation::Cancel& /*what*/, Instant now) {
  if (!is(record, State::Open)) return false;
  settle(*record, State::Cancelled, now);
  return true;
}

bool apply(Record& record, const reservation::Expire& /*what*/, Instant now) {
  if (!record || !record->is_over(now)) return false;
  settle(*record, State::Expired, now);
  return true;
}

bool apply(Record& record, const reservation::Note& what, Instant /*now*/) {
  if (!is(record, State::Committed)) return false;
  record->uncharged = what.uncharged;
  return true;
}

std::optional<Reservation> view(const Record& record, Instant now) {
  if (!record) return std::nullopt;
  Reservation seen{.state = record->state,
                   .estimate = record->estimate,
                   .actual = record->actual,
                   .uncharged = record->uncharged,
                   .age = std::max(now - record->begun, Duration{0}),
                   .held = record->held};
  if (record->state == State::Open) seen.left = std::max(record->ends - now, Duration{0});
  return seen;
}

}  // namespace

std::string_view to_string(ReservationState state) noexcept {
  switch (state) {
    case State::Pending: return "pending";
    case State::Open: return "open";
    case State::Committed: return "committed";
    case State::Cancelled: return "cancelled";
    case State::Expired: return "expired";
  }
  return "unknown";
}

ReservationAnswer step(Record& record, const ReservationAsk& ask, Instant now) {
  ReservationAnswer answer{.before = view(record, now)};
  answer.done = std::visit([&](const auto& what) { return apply(record, what, now); }, ask.what);
  return answer;
}

}  // namespace penstock::store
