#pragma once

#include "base/deadline.hpp"
#include "core/named_check.hpp"
#include "store/answered.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace penstock::store {

// What a reservation has taken from one count.
struct HeldUnits {
  core::LimitKey name;
  Quota quota;
  std::uint64_t weight = 1;  // units taken for each unit of the estimate
  // So long after the reservation began the count has forgotten it by itself; then there is nothing
  // to give back.
  Duration counts_for{};
  core::SharingTerms
      terms{};  // exact, or of a strict lease: nobody may take past what it has leased

  friend bool operator==(const HeldUnits&, const HeldUnits&) = default;
};

enum class ReservationState : std::uint8_t {
  Pending,    // somebody is asking the limits for it
  Open,       // the estimate is taken, and nobody has said yet what it really was
  Committed,  // that is known, and settled
  Cancelled,  // all was given back
  Expired,    // nobody said anything in time: all was given back
};
[[nodiscard]] std::string_view to_string(ReservationState state) noexcept;

// A reservation as the book has it.
struct Reservation {
  ReservationState state = ReservationState::Pending;
  std::uint64_t estimate = 0;
  std::uint64_t actual = 0;                  // of Committed
  std::optional<std::uint64_t> uncharged{};  // of Committed, once that is known
  Duration age{};                            // since it began
  Duration left{};                           // of Open, until it expires; zero when it is over
  std::vector<HeldUnits> held{};             // of all but Pending
  std::string claimant{};                    // of the Begin that made it

  friend bool operator==(const Reservation&, const Reservation&) = default;
};

// What can be done with a reservation; each of them is done once, or not at all.
namespace reservation {

// Nobody else has this id: it is Pending for whoever asks. Done when there was none.
struct Begin {
  std::string claimant;  // told again by Confirm and Drop, which are of nobody else
};
// Its units are taken. Done when it is Pending for the claimant.
struct Confirm {
  std::string claimant;
  std::uint64_t estimate = 0;
  Duration lasts{};  // REQUIRES: 0 < lasts <= ReservationStore::kMaxLifetime
  std::vector<HeldUnits> held{};
};
// The limits refused. Done when it was Pending for the claimant, and then there is none.
struct Drop {
  std::string claimant;
};
// The steps below name their caller, the settler, who then settles the difference. A settler that
// did not get the answer asks again: it is told Done, and what there was before the first time.
//
// Done when it is Open, or Expired and its units were refunded.
struct Commit {
  std::uint64_t actual = 0;
  std::string settler{};
};
// Done when it is Open; the caller then refunds all.
struct Cancel {
  std::string settler{};
};
// Done when it is Open and over; the caller then refunds all, and reports Refunded.
struct Expire {
  std::string settler{};
};
// The units of an expired one were refunded. Done when it is Expired.
struct Refunded {};
// What a commit could not charge. Done when it is Committed.
struct Note {
  std::uint64_t uncharged = 0;
};

}  // namespace reservation

struct ReservationRequest {
  std::string id;
  std::variant<reservation::Begin, reservation::Confirm, reservation::Drop, reservation::Commit,
               reservation::Cancel, reservation::Expire, reservation::Refunded, reservation::Note>
      what;
};

struct ReservationAnswer {
  bool done = false;
  std::optional<Reservation> before{};  // what there was when asked

  friend bool operator==(const ReservationAnswer&, const ReservationAnswer&) = default;
};

// Where reservations are written down: each under an id of its own. What has been settled stays for
// keep_for(), so that somebody who asks again is told the same. Answers come as those of a Store.
//
// Thread-safety: none; everything happens on one event loop.
class ReservationStore {
 public:
  static constexpr Duration kMaxLifetime = Days{1};
  static constexpr std::size_t kMaxIdLength = 200;
  // One that is Pending is forgotten after so long: whoever asked the limits is gone.
  static constexpr Duration kPendingTimeout = std::chrono::seconds{10};
  // One that expired can be committed when its units were refunded, or so long after it expired:
  // the daemon that had to refund them is down.
  static constexpr Duration kRefundTimeout = std::chrono::seconds{10};
  // How long one is remembered after it was settled: as long as it could have lasted, but a while
  // at least.
  [[nodiscard]] static constexpr Duration keep_for(Duration lasts) {
    constexpr Duration kMin = std::chrono::minutes{5};
    return lasts > kMin ? lasts : kMin;
  }

  ReservationStore() = default;
  ReservationStore(const ReservationStore&) = delete;
  ReservationStore& operator=(const ReservationStore&) = delete;
  virtual ~ReservationStore() = default;

  // CapacityExhausted for Begin when there are too many.
  virtual void ask(ReservationRequest ask, base::Deadline deadline,
                   Answered<ReservationAnswer> answered) = 0;
  // Ids of some that are Open and over, those that ended first; Expire them.
  virtual void due(std::size_t most, base::Deadline deadline,
                   Answered<std::vector<std::string>> answered) = 0;
};

}  // namespace penstock::store
