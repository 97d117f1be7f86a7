// A shared store that comes and goes, several nodes, virtual time.
#include "reference/any_quota.hpp"
#include "service/outage_reconciler.hpp"
#include "store/memory_store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace penstock::service {
namespace {

struct Admission {
  Instant at;
  std::uint64_t units = 0;
};

// The most that a limit may admit in any interval of this length.
std::uint64_t most_in(const Quota& quota, Duration time) {
  const auto periods = static_cast<std::uint64_t>(time / quota.period());
  const std::uint64_t limit = quota.limit();
  switch (quota.algorithm()) {
    case Algorithm::TokenBucket:
    case Algorithm::Gcra:
      return quota.capacity() + limit * static_cast<std::uint64_t>(time.count()) /
                                    static_cast<std::uint64_t>(quota.period().count());
    case Algorithm::FixedWindow:
    case Algorithm::AnchoredWindow: return limit * (periods + 2);
    case Algorithm::SlidingLog:
    case Algorithm::SubWindows: return limit * (periods + 1);
    case Algorithm::SlidingCounter: return 2 * limit * (periods + 1);
  }
  return 0;
}

// In all pairs of admissions.
bool is_within(const std::vector<Admission>& admitted, const Quota& quota) {
  for (auto first = admitted.begin(); first != admitted.end(); ++first) {
    std::uint64_t sum = 0;
    for (auto last = first; last != admitted.end(); ++last) {
      sum += last->units;
      if (sum > most_in(quota, last->at - first->at)) return false;
    }
  }
  return true;
}

struct Node {
  Node(const Clock& clock, const Membership& members, store::LimitStore& shared)
      : memory({.clock = &clock}), share(memory, members), reporter(shared, nullptr, share) {}

  store::ShardedTable memory;
  LocalFallback share;
  OutageReconciler reporter;
  std::vector<Admission> alone{};  // admitted without the store
};

// Everything that happens in one world, by chance.
class World {
 public:
  World(Quota quota, unsigned nodes) : quota_(quota), members_(nodes) {
    for (unsigned i = 0; i < nodes; ++i) {
      nodes_.push_back(std::make_unique<Node>(clock_, members_, shared_store_));
    }
  }

  void step() {
    const auto most = 2 * quota_.period().count() / *rc::gen::element<std::int64_t>(1, 20, 400);
    clock_.advance(Duration{*rc::gen::inRange<std::int64_t>(0, most + 1)});
    if (*rc::gen::inRange(0, 5) == 0) is_up_ = !is_up_;
    const std::size_t chosen = *rc::gen::inRange<std::size_t>(0, nodes_.size());
    Node& node = *nodes_[chosen];
    if (is_up_ && *rc::gen::inRange(0, 3) == 0) node.reporter.tick(true);
    ask(node, Cost{*rc::gen::element<std::uint64_t>(1, 1, 1, 3, quota_.capacity() / 2 + 1)});
  }

  [[nodiscard]] bool holds() const {
    const Quota share = nodes_.front()->share.share_of(quota_);
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& node) { return is_within(node->alone, share); });
  }
  [[nodiscard]] std::uint64_t admitted_alone() const {
    std::uint64_t sum = 0;
    for (const auto& node : nodes_) {
      for (const Admission& each : node->alone) sum += each.units;
    }
    return sum;
  }
  [[nodiscard]] Duration age() const { return clock_.now() - kStart; }

 private:
  static constexpr Instant kStart{Days{20'000}};

  void ask(Node& node, Cost cost) {
    const core::NamedCheck check{.name = {"s", "l"}, .quota = quota_, .cost = cost};
    if (is_up_) {
      const Decision said = shared_.check(check);
      node.share.remember(check, said, node.share.changes());
      if (said.remaining() == 0) RC_ASSERT(!node.share.check({check}).front().allowed());
    } else if (node.share.check({check}).front().allowed()) {
      node.alone.push_back({.at = clock_.now(), .units = cost.units});
    }
  }

  Quota quota_;
  Membership members_;
  ManualClock clock_{kStart};
  store::ShardedTable shared_{{.clock = &clock_}};
  store::MemoryStore shared_store_{shared_};
  std::vector<std::unique_ptr<Node>> nodes_;
  bool is_up_ = true;
};

RC_GTEST_PROP(FlappingStore, NeverGrantsANodeMoreThanItsShareWithoutIt, ()) {
  const Quota quota = reference::any_handy_quota();
  const auto nodes = *rc::gen::inRange(1U, 6U);
  World world(quota, nodes);
  for (int i = 0; i < 120; ++i) world.step();
  RC_ASSERT(world.holds());
  // (rate x D + burst) times the sum of the shares, which is one where nothing is rounded up to one
  if (quota.is_bucket() && quota.limit() >= nodes && quota.capacity() >= nodes) {
    RC_ASSERT(world.admitted_alone() <= most_in(quota, world.age()));
  }
}

}  // namespace
}  // namespace penstock::service
