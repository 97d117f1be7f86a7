#include "gateway/shared_seats.hpp"

#include "service/unique_name.hpp"

#include <utility>

namespace penstock::gateway {
namespace {

// For what nobody waits for.
constexpr Duration kPatience = std::chrono::seconds{1};

}  // namespace

SharedSeats::SharedSeats(store::SeatBook& book, Terms terms)
    : book_(&book), terms_(std::move(terms)), node_(service::unique_name()) {}

void SharedSeats::Seat::leave() noexcept {
  const std::shared_ptr<SharedSeats> owner = std::move(owner_);
  owner_.reset();
  if (owner != nullptr) owner->leave(std::exchange(number_, 0));
}

void SharedSeats::take(std::string_view client, base::Deadline deadline, Answered answered) {
  if (book_ == nullptr) return answered(Outcome::NotAsked, {});
  const std::uint64_t number = ++last_;
  store::SeatName name{.key = terms_.prefix + std::string(client),
                       .id = node_ + "-" + std::to_string(number)};
  book_->acquire(name, terms_.limit, terms_.lease, deadline,
                 [self = shared_from_this(), name, number, asked_at = base::monotonic_now(),
                  answered = std::move(answered)](const Result<core::SeatAnswer>& answer) {
                   // of a call that was lost nobody knows: a seat that was taken expires
                   if (!answer) return answered(Outcome::NotAsked, {});
                   if (!answer->held) return answered(Outcome::Full, {});
                   self->held_.emplace(
                       number, Held{.name = name, .renew_at = self->next_renewal(asked_at)});
                   Seat seat;
                   seat.owner_ = self;
                   seat.number_ = number;
                   answered(Outcome::Taken, std::move(seat));
                 });
}

base::Deadline SharedSeats::next_renewal(base::Deadline now) const {
  return now + terms_.lease / 3;
}

// By acquiring again, which also takes a seat back that was lost while the store was gone.
void SharedSeats::tick(base::Deadline now) {
  if (book_ == nullptr) return;
  for (auto& [number, held] : held_) {
    if (held.renew_at > now) continue;
    held.renew_at = next_renewal(now);
    book_->acquire(held.name, terms_.limit, terms_.lease, now + kPatience,
                   [](const Result<core::SeatAnswer>& /*answer*/) {});
  }
}

void SharedSeats::leave(std::uint64_t number) {
  const auto held = held_.find(number);
  if (held == held_.end()) return;
  const store::SeatName name = std::move(held->second.name);
  held_.erase(held);
  if (book_ == nullptr) return;
  book_->release(name, base::deadline_after(kPatience), [](const Result<bool>& /*was_held*/) {});
}

}  // namespace penstock::gateway
