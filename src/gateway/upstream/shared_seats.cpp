#include "gateway/upstream/shared_seats.hpp"

#include "service/unique_name.hpp"

#include <algorithm>
#include <utility>

namespace penstock::gateway {
namespace {

// For what nobody waits for.
constexpr Duration kPatience = std::chrono::seconds{1};

bool may_be_done(const Error& error) {
  return error.code != ErrorCode::Unavailable && error.code != ErrorCode::Overloaded;
}

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
                   if (!answer) {
                     // of a call that was lost nobody knows whether it took the seat
                     if (may_be_done(answer.error())) {
                       self->release({name, asked_at + self->terms_.lease});
                     }
                     return answered(Outcome::NotAsked, {});
                   }
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
  for (std::size_t tries = std::min(unreleased_.size(), kReleasesPerTick); tries > 0; --tries) {
    Unreleased next = std::move(unreleased_.front());
    unreleased_.pop_front();
    if (next.expires > now) release(std::move(next));
  }
}

void SharedSeats::leave(std::uint64_t number) {
  const auto held = held_.find(number);
  if (held == held_.end()) return;
  const store::SeatName name = std::move(held->second.name);
  held_.erase(held);
  release({name, base::monotonic_now() + terms_.lease});
}

void SharedSeats::release(Unreleased seat) {
  if (book_ == nullptr) return;
  const store::SeatName name = seat.name;
  book_->release(name, base::deadline_after(kPatience),
                 [self = shared_from_this(), seat = std::move(seat)](const Result<bool>& released) {
                   if (released || self->unreleased_.size() >= kMostUnreleased) return;
                   self->unreleased_.push_back(seat);
                 });
}

}  // namespace penstock::gateway
