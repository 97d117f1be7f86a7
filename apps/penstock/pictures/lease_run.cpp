#include "apps/penstock/pictures/lease_run.hpp"

#include "core/any_state.hpp"
#include "core/lease.hpp"
#include "lease/key_lease.hpp"

#include <deque>
#include <functional>
#include <map>

namespace penstock::app {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kNodes = 2;
constexpr Duration kRequestInterval = milliseconds{5};
// Before the drawing: the size of leases follows from what was admitted.
constexpr Duration kWarmUp = std::chrono::seconds{20};
constexpr Duration kLeaseWorldEnd = kWarmUp + kLeaseRunEnd;
constexpr Instant kRedisStart{Days{20'000}};
constexpr base::Deadline kNodeStart{std::chrono::hours{1}};

// The events of the simulation, in the order of their instants. Redis is the pure functions that
// its scripts repeat.
class LeaseWorld {
 public:
  LeaseWorld() {
    run_.nodes.resize(kNodes);
    for (std::size_t i = 0; i < kNodes; ++i) {
      leases_.emplace_back(core::LimitKey{.subject = "user=7", .limit = "api/search"}, quota_,
                           core::SharingTerms{.mode = core::Mode::Lease}, kNodeStart);
      // the second node starts later, so that the drawing shows both
      const Duration start = milliseconds{10} + static_cast<int>(i) * milliseconds{22};
      for (Duration at = start; at < kLeaseWorldEnd; at += kRequestInterval) {
        schedule(at, [this, i] { request(i); });
      }
    }
  }

  LeaseRun run() {
    while (!events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = event.key();
      if (now_ >= kLeaseWorldEnd) break;
      event.mapped()();
    }
    return std::move(run_);
  }

 private:
  void schedule(Duration at, std::function<void()> event) { events_.emplace(at, std::move(event)); }
  [[nodiscard]] base::Deadline node_time() const { return kNodeStart + now_; }
  [[nodiscard]] Instant redis_time() const { return kRedisStart + now_; }

  void note_request(std::size_t node, Duration at, LeaseRun::Decided decided) {
    if (at < kWarmUp) return;
    run_.nodes[node].requests.push_back({.at = at - kWarmUp, .decided = decided});
  }
  void note_call(std::size_t node, Duration at, std::uint32_t granted) {
    if (at < kWarmUp) return;
    run_.nodes[node].calls.push_back(
        {.at = at - kWarmUp, .answered = at - kWarmUp + kLeaseRoundTrip, .granted = granted});
  }

  void request(std::size_t node) {
    const bool local = leases_[node].take(Cost{1}, node_time()).has_value();
    if (local) {
      note_request(node, now_, LeaseRun::Decided::Locally);
    } else {
      check_in_redis(node);
    }
    after_change(node);
  }

  void check_in_redis(std::size_t node) {
    const Duration asked = now_;
    note_call(node, asked, 0);
    schedule(asked + kLeaseRoundTrip / 2, [this, node, asked] {
      const Decision said = core::decide(redis_, quota_, Cost{1}, redis_time());
      schedule(asked + kLeaseRoundTrip, [this, node, asked, said] {
        if (said.allowed()) {
          leases_[node].note_admitted(Cost{1}, said, kNodeStart + asked, node_time());
        }
        note_request(node, asked,
                     said.allowed() ? LeaseRun::Decided::ByRedis : LeaseRun::Decided::Denied);
        after_change(node);
      });
    });
  }

  void after_change(std::size_t node) {
    const std::uint32_t in_hand = leases_[node].in_hand(node_time());
    if (now_ >= kWarmUp) {
      run_.nodes[node].levels.push_back({.at = now_ - kWarmUp, .in_hand = in_hand});
    }
    if (leases_[node].needs_refill(node_time())) lease_from_redis(node);
  }

  void lease_from_redis(std::size_t node) {
    const Duration asked = now_;
    const store::LeaseRequest ask = leases_[node].ask(kNodes, node_time());
    schedule(asked + kLeaseRoundTrip / 2, [this, node, asked, ask] {
      store::LeaseGrant grant;
      grant.granted = core::take_up_to(redis_, quota_, ask.lease.need, ask.lease.want,
                                       ask.lease.sharers, redis_time());
      grant.afterwards = core::evaluate(redis_, quota_, Cost{0}, redis_time());
      schedule(asked + kLeaseRoundTrip, [this, node, asked, grant] {
        lease::WaiterAnswers answers;
        leases_[node].on_grant(grant, node_time(), answers);
        note_call(node, asked, grant.granted);
        after_change(node);
      });
    });
  }

  Quota quota_ = leased_quota();
  core::AnyState redis_{};
  std::deque<lease::KeyLease> leases_{};
  std::multimap<Duration, std::function<void()>> events_{};
  Duration now_{0};
  LeaseRun run_{};
};

}  // namespace

Quota leased_quota() { return Quota::make(per(1000, std::chrono::seconds{1})).value(); }

LeaseRun run_leases() { return LeaseWorld().run(); }

}  // namespace penstock::app
