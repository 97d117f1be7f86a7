#include "store/reservation_table.hpp"

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

void settle(ReservationRecord& record, State state, const std::string& settler, Instant now) {
  record.was = std::exchange(record.state, state);
  record.settler = settler;
  record.forgotten = now + record.keep;
}

bool can_commit(const Record& record, Instant now) {
  if (is(record, State::Open)) return true;
  return is(record, State::Expired) &&
         (record->refunded || now - record->ends >= ReservationStore::kRefundTimeout);
}

bool apply(Record& record, const reservation::Begin& what, Instant now) {
  if (record) return false;
  record = ReservationRecord{.claimant = what.claimant,
                             .begun = now,
                             .forgotten = now + ReservationStore::kPendingTimeout};
  return true;
}

bool apply(Record& record, const reservation::Confirm& what, Instant now) {
  if (!is_pending_for(record, what.claimant)) return false;
  record->state = State::Open;
  record->estimate = what.estimate;
  record->held = what.held;
  record->ends = now + what.lasts;
  record->keep = ReservationStore::keep_for(what.lasts);
  record->forgotten = record->ends + record->keep;
  return true;
}

bool apply(Record& record, const reservation::Drop& what, Instant /*now*/) {
  if (!is_pending_for(record, what.claimant)) return false;
  record.reset();
  return true;
}

bool apply(Record& record, const reservation::Commit& what, Instant now) {
  if (!can_commit(record, now)) return false;
  const bool is_covered = record->state == State::Open && what.actual <= record->estimate;
  settle(*record, State::Committed, what.settler, now);
  record->actual = what.actual;
  if (is_covered) record->uncharged = 0;
  return true;
}

bool apply(Record& record, const reservation::Cancel& what, Instant now) {
  if (!is(record, State::Open)) return false;
  settle(*record, State::Cancelled, what.settler, now);
  return true;
}

bool apply(Record& record, const reservation::Expire& what, Instant now) {
  if (!record || !record->is_over(now)) return false;
  settle(*record, State::Expired, what.settler, now);
  record->expirer = what.settler;
  record->ends = now;
  return true;
}

bool apply(Record& record, const reservation::Refunded& /*what*/, Instant /*now*/) {
  if (!is(record, State::Expired)) return false;
  record->refunded = true;
  return true;
}

bool apply(Record& record, const reservation::Note& what, Instant /*now*/) {
  if (!is(record, State::Committed)) return false;
  record->uncharged = what.uncharged;
  return true;
}

// Whether a settler repeats its step.
template <class What>
bool is_repeated(const Record& /*record*/, const What& /*what*/) {
  return false;
}
bool is_by(const Record& record, State state, const std::string& settler) {
  return is(record, state) && !settler.empty() && record->settler == settler;
}
bool is_repeated(const Record& record, const reservation::Commit& what) {
  return is_by(record, State::Committed, what.settler);
}
bool is_repeated(const Record& record, const reservation::Cancel& what) {
  return is_by(record, State::Cancelled, what.settler);
}
// Also when it was committed since: what it held is yet to be refunded.
bool is_repeated(const Record& record, const reservation::Expire& what) {
  return record && !what.settler.empty() && record->expirer == what.settler;
}

State state_before(const ReservationRecord& record, const ReservationRequest& ask) {
  return std::holds_alternative<reservation::Expire>(ask.what) ? State::Open : record.was;
}

std::optional<Reservation> view(const Record& record, State state, Instant now) {
  if (!record) return std::nullopt;
  Reservation seen{.state = state,
                   .estimate = record->estimate,
                   .actual = record->actual,
                   .uncharged = record->uncharged,
                   .age = std::max(now - record->begun, Duration{0}),
                   .held = record->held,
                   .claimant = record->claimant};
  if (state == State::Open) seen.left = std::max(record->ends - now, Duration{0});
  return seen;
}

// What the tables need for a record and for a limit, without texts, roughly.
constexpr std::size_t kRecordBytes = 600;
constexpr std::size_t kHeldBytes = 200;

std::size_t bytes_of(const std::string& id, const ReservationRecord& record) {
  std::size_t bytes = kRecordBytes + 3 * id.size() + record.claimant.size() +
                      record.settler.size() + record.expirer.size();
  for (const HeldUnits& held : record.held) {
    bytes += kHeldBytes + held.name.subject.size() + held.name.limit.size();
  }
  return bytes;
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

ReservationAnswer step(Record& record, const ReservationRequest& ask, Instant now) {
  const bool repeated =
      std::visit([&](const auto& what) { return is_repeated(record, what); }, ask.what);
  const State state = !record    ? State::Pending
                      : repeated ? state_before(*record, ask)
                                 : record->state;
  ReservationAnswer answer{.done = repeated, .before = view(record, state, now)};
  if (repeated) return answer;
  answer.done = std::visit([&](const auto& what) { return apply(record, what, now); }, ask.what);
  return answer;
}

Result<ReservationAnswer> ReservationTable::ask(const ReservationRequest& ask) {
  const std::lock_guard lock(mutex_);
  const Instant at = now();
  forget_old(at);
  std::optional<ReservationRecord> record;
  if (const auto known = records_.find(ask.id); known != records_.end()) {
    remove_from_indexes(ask.id, known->second);
    record = std::move(known->second);
    records_.erase(known);
  } else if (std::holds_alternative<reservation::Begin>(ask.what) && bytes_ >= max_bytes_) {
    return Error{ErrorCode::CapacityExhausted,
                 "reservation \"" + ask.id + "\" would need more than the " +
                     std::to_string(max_bytes_) + " bytes for reservations; " +
                     std::to_string(records_.size()) + " are remembered"};
  }
  ReservationAnswer answer = step(record, ask, at);
  if (record) {
    add_to_indexes(ask.id, *record);
    records_.emplace(ask.id, *std::move(record));
  }
  return answer;
}

std::vector<std::string> ReservationTable::due(std::size_t most) {
  const std::lock_guard lock(mutex_);
  const Instant at = now();
  forget_old(at);
  std::vector<std::string> ids;
  for (auto next = ends_.begin(); next != ends_.end() && next->first <= at && ids.size() < most;
       ++next) {
    ids.push_back(next->second);
  }
  return ids;
}

Instant ReservationTable::now() { return latest_ = std::max(latest_, clock_.now()); }

void ReservationTable::forget_old(Instant now) {
  while (!forgotten_.empty() && forgotten_.begin()->first <= now) {
    const auto known = records_.find(forgotten_.begin()->second);
    remove_from_indexes(known->first, known->second);
    records_.erase(known);
  }
}

void ReservationTable::add_to_indexes(const std::string& id, const ReservationRecord& record) {
  if (record.state == ReservationState::Open) ends_.emplace(record.ends, id);
  forgotten_.emplace(record.forgotten, id);
  bytes_ += bytes_of(id, record);
}

void ReservationTable::remove_from_indexes(const std::string& id, const ReservationRecord& record) {
  if (record.state == ReservationState::Open) ends_.erase({record.ends, id});
  forgotten_.erase({record.forgotten, id});
  bytes_ -= bytes_of(id, record);
}

}  // namespace penstock::store
