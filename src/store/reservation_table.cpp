#include "store/reservation_table.hpp"

#include <algorithm>

namespace penstock::store {
namespace {

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
