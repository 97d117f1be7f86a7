#include "apps/penstock/pictures/outage_run.hpp"

#include "penstock/clock.hpp"
#include "penstock/memory_options.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "service/outage_reconciler.hpp"
#include "store/memory_store.hpp"
#include "store/sharded_table.hpp"

#include <memory>

namespace penstock::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr unsigned kOutageNodes = 2;
constexpr Instant kOutageStart{Days{20'000}};  // a multiple of the period

core::NamedCheck one_request() {
  return {.name = {.subject = "user=7", .limit = "api/search"}, .quota = outage_quota()};
}

// A node: its local fallback, and its reconciler.
struct OutageNode {
  OutageNode(const MemoryOptions& options, const service::Membership& members,
             store::LimitStore& redis)
      : memory(options), fallback(memory, members), reconciler(redis, nullptr, fallback) {}

  store::ShardedTable memory;
  service::LocalFallback fallback;
  service::OutageReconciler reconciler;
};

class OutageWorld {
 public:
  OutageWorld() {
    for (unsigned i = 0; i < kOutageNodes; ++i) {
      nodes_.push_back(std::make_unique<OutageNode>(options_, members_, store_));
    }
    run_.nodes.resize(kOutageNodes);
  }

  OutageRun run() {
    for (Duration at{0}; at < kOutageRunEnd; at += milliseconds{500}) {
      clock_.set(kOutageStart + at);
      now_ = at;
      const bool whole_second = at % seconds{1} == Duration{0};
      if (whole_second) tick();
      request(whole_second ? 0 : 1);
      note_level();
    }
    return std::move(run_);
  }

 private:
  [[nodiscard]] bool redis_serves() const { return now_ < kOutageBegin || now_ >= kOutageEnd; }

  void request(std::size_t index) {
    OutageNode& node = *nodes_[index];
    const core::NamedCheck check = one_request();
    Decision said;
    if (redis_serves()) {
      const std::uint64_t changes = node.fallback.changes();
      said = redis_.check(check);
      node.fallback.remember(check, said, changes);
    } else {
      said = node.fallback.check({check}).front();
    }
    const OutageRun::Decided admitted =
        redis_serves() ? OutageRun::Decided::AllowedByRedis : OutageRun::Decided::AllowedLocally;
    run_.nodes[index].push_back(
        {.at = now_, .decided = said.allowed() ? admitted : OutageRun::Decided::Denied});
    if (said.allowed() && now_ < outage_quota().period()) ++run_.admitted;
  }

  // Once a second, as in the daemon.
  void tick() {
    for (const auto& node : nodes_) {
      const std::uint64_t before = node->fallback.ledger().totals().reported;
      node->reconciler.tick(redis_serves());
      const std::uint64_t units = node->fallback.ledger().totals().reported - before;
      if (units > 0) run_.reports.push_back({.at = now_, .units = units});
    }
  }

  void note_level() {
    core::NamedCheck peek = one_request();
    peek.cost = Cost{0};
    const Decision said = redis_.check(peek);
    run_.levels.push_back({.at = now_, .used = said.limit() - said.remaining()});
  }

  ManualClock clock_{kOutageStart};
  MemoryOptions options_{.clock = &clock_};
  service::Membership members_{kOutageNodes};
  store::ShardedTable redis_{options_};
  store::MemoryStore store_{redis_};
  std::vector<std::unique_ptr<OutageNode>> nodes_{};
  Duration now_{0};
  OutageRun run_{};
};

}  // namespace

Quota outage_quota() {
  return Quota::make(per(60, std::chrono::minutes{1}).with(Algorithm::FixedWindow)).value();
}

OutageRun run_outage() { return OutageWorld().run(); }

}  // namespace penstock::app
