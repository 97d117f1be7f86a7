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

// Units that a reservation has charged to one limit.
struct HeldUnits {
  core::LimitKey name;
  Quota quota;
  std::uint64_t weight = 1;  // units taken for each unit of the estimate
  // This long after the reservation began, the units have expired and are not refunded.
  Duration counts_for{};
  core::SharingTerms terms{};  // exact, or of a strict lease, with an escrow that checks respect

  friend bool operator==(const HeldUnits&, const HeldUnits&) = default;
};

enum class ReservationState : std::uint8_t {
  Pending,    // its limits are being checked
  Open,       // the estimate is charged, the actual cost is unknown
  Committed,  // that is known, and settled
  Cancelled,  // everything was refunded
  Expired,    // not settled in time: everything was refunded
};
[[nodiscard]] std::string_view to_string(ReservationState state) noexcept;

// The record of a reservation.
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

// Claims the id: it is Pending for the caller. Done when it was free.
struct Begin {
  std::string claimant;  // Confirm and Drop must repeat it
};
// Its units are taken. Done when it is Pending for the claimant.
struct Confirm {
  std::string claimant;
  std::uint64_t estimate = 0;
  Duration lasts{};  // REQUIRES: 0 < lasts <= ReservationStore::kMaxLifetime
  std::vector<HeldUnits> held{};
};
// The limits denied. Done when it was Pending for the claimant, and then there is none.
struct Drop {
  std::string claimant;
};
// The steps below name their caller, the settler, which then settles the difference. A settler that
// did not receive the answer repeats the step: it receives Done and the record before the first
// attempt.
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
  std::optional<Reservation> before{};  // the record before the call

  friend bool operator==(const ReservationAnswer&, const ReservationAnswer&) = default;
};

// Where reservations are written down: each under an id of its own. What has been settled stays for
// keep_for(), so that a repeated call has the same result.
//
// Thread-safety: none; everything happens on one event loop.
class ReservationStore {
 public:
  static constexpr Duration kMaxLifetime = Days{1};
  static constexpr std::size_t kMaxIdLength = 200;
  // A Pending reservation is dropped after this time: its caller has crashed.
  static constexpr Duration kPendingTimeout = std::chrono::seconds{10};
  // One that expired can be committed when its units were refunded, or for this long after it
  // expired: the daemon that had to refund them is down.
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
