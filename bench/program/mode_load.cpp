#include "bench/program/mode_load.hpp"

#include "bench/key_text.hpp"
#include "bench/load.hpp"
#include "lease/leasing_store.hpp"
#include "redis_store/redis_store.hpp"
#include "redis_store/requests.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

namespace penstock::bench {
namespace {

// Key draws are reused, to stay within the caches.
constexpr std::size_t kDraws = 1U << 18U;
// Checks decided locally between two polls of the network.
constexpr int kTurn = 64;

// One holder: an event loop and a store, as in a worker, and a client that never idles.
class Holder {
 public:
  Holder(const ModeLoad& load, store::ShardedTable& memory, unsigned number)
      : load_(load),
        draws_(draw_keys(load.distribution, load.keys, kDraws, load.seed + number)),
        random_(load.seed + number),
        counts_(load.keys + 1),
        log_(load.keys + 1) {
    auto shared = std::make_unique<redis_store::RedisStore>(
        loop_.get_executor(), load.redis, *redis_store::client_options(load.redis));
    shared_ = shared.get();
    store_ = std::make_unique<lease::LeasingStore>(
        std::move(shared),
        lease::LeasingStore::Dependencies{
            .leases = *shared_,
            .memory = memory,
            .nodes = [nodes = load.nodes] { return nodes; },
            .holders_per_node = load.holders,
            .timeout = load.redis.timeout,
            .post = [this](auto what) { boost::asio::post(loop_, std::move(what)); }});
  }

  void run() {
    shared_->start();
    warm_up();
    const std::uint64_t commands = shared_->health().round_trips;
    const base::Deadline until = base::monotonic_now() + load_.time;
    base::Deadline last_turn{};
    while (true) {
      const base::Deadline now = base::monotonic_now();
      if (now >= until) break;
      const auto pause = pause_before(load_.demand, last_turn, now);
      if (pause > std::chrono::nanoseconds::zero()) {
        loop_.run_one_for(std::min<std::chrono::nanoseconds>(pause, until - now));
        continue;
      }
      last_turn = now;
      for (int i = 0; i < kTurn && open_ < load_.outstanding; ++i) check_next();
      if (open_ < load_.outstanding) {
        loop_.poll();
      } else {
        loop_.run_one_for(std::chrono::milliseconds{10});
      }
    }
    while (open_ > 0) loop_.run_one_for(std::chrono::milliseconds{10});
    counts_.demand = log_.take();
    counts_.commands = shared_->health().round_trips - commands;
    const store::LeaseStats leases = store_->stats();
    counts_.decided_by_lease = leases.decided_by_lease;
    counts_.decided_by_denial = leases.decided_by_denial;
    counts_.leases_asked = leases.requests;
    leave();
  }

  [[nodiscard]] const ModeCounts& counts() const { return counts_; }
  LatencyHistogram cold{};
  LatencyHistogram hot{};

 private:
  // Connects before the measurement.
  void warm_up() {
    bool is_answered = false;
    shared_->get(store::CounterKind::Integer, "warm-up",
                 base::deadline_after(std::chrono::seconds{5}),
                 [&](const Result<std::int64_t>&) { is_answered = true; });
    while (!is_answered) loop_.run_one_for(std::chrono::milliseconds{10});
  }

  void leave() {
    bool is_done = false;
    store_->shutdown([&] { is_done = true; });
    while (!is_done) loop_.run_one_for(std::chrono::milliseconds{10});
  }

  void check_next() {
    const bool is_hot = load_.hot_percent > 0 && random_() % 100 < load_.hot_percent;
    const std::uint32_t key = is_hot ? load_.keys : draws_[next_++ % kDraws];
    check_.name.subject.assign(text_.write(key));
    check_.quota = load_.quota;
    check_.terms = load_.terms;
    ++counts_.requests[key];
    const base::Deadline since = base::monotonic_now();
    if (load_.logs_demand) log_.note(key, since);
    const core::NamedCheck* const only = &check_;
    Decision decision;
    if (store_->try_check({&only, 1}, {&decision, 1})) return record(key, decision, since);
    ++open_;
    store_->check({check_}, base::deadline_after(load_.redis.timeout),
                  [this, key, since](const Result<store::Decisions>& decisions) {
                    --open_;
                    if (decisions) return record(key, decisions->front(), since);
                    if (counts_.first_failure.empty()) {
                      counts_.first_failure = decisions.error().detail;
                    }
                    ++counts_.failed[key];
                  });
  }

  void record(std::uint32_t key, const Decision& decision, base::Deadline since) {
    if (decision.allowed()) ++counts_.admitted[key];
    (key == load_.keys ? hot : cold).add(base::monotonic_now() - since);
  }

  const ModeLoad& load_;
  boost::asio::io_context loop_{1};
  std::vector<std::uint32_t> draws_;
  std::size_t next_ = 0;
  std::mt19937_64 random_;
  redis_store::RedisStore* shared_ = nullptr;
  std::unique_ptr<lease::LeasingStore> store_;
  KeyText text_;
  core::NamedCheck check_{.name = {}, .quota = per_second(1)};
  ModeCounts counts_;
  DemandLog log_;
  unsigned open_ = 0;
};

void add_to(std::vector<std::uint64_t>& sums, const std::vector<std::uint64_t>& others) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
}

}  // namespace

std::string mode_load_key(std::uint32_t number) { return std::string(KeyText{}.write(number)); }

void ModeCounts::add(const ModeCounts& others) {
  add_to(requests, others.requests);
  add_to(admitted, others.admitted);
  add_to(failed, others.failed);
  commands += others.commands;
  decided_by_lease += others.decided_by_lease;
  decided_by_denial += others.decided_by_denial;
  leases_asked += others.leases_asked;
  if (first_failure.empty()) first_failure = others.first_failure;
  demand.insert(demand.end(), others.demand.begin(), others.demand.end());
}

Result<ModeFigures> run_mode_load(const ModeLoad& load) {
  store::ShardedTable memory(MemoryOptions{});  // shared by the workers of a node
  std::vector<std::unique_ptr<Holder>> holders;
  for (unsigned i = 0; i < load.holders; ++i) {
    holders.push_back(std::make_unique<Holder>(load, memory, i));
  }
  ModeFigures figures{.counts = ModeCounts(load.keys + 1)};
  const std::chrono::nanoseconds cpu = process_cpu_time();
  figures.wall = run_together(holders.size(), [&](std::size_t i) { holders[i]->run(); });
  figures.cpu = process_cpu_time() - cpu;
  for (const std::unique_ptr<Holder>& holder : holders) {
    figures.counts.add(holder->counts());
    figures.cold.add(holder->cold);
    figures.hot.add(holder->hot);
  }
  const auto sum = [](const std::vector<std::uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
  };
  // with pauses, a short run may send no request
  const std::uint64_t failed = sum(figures.counts.failed);
  if (failed > 0 && failed == sum(figures.counts.requests)) {
    return Error{ErrorCode::Unavailable, "all calls failed: " + figures.counts.first_failure};
  }
  return figures;
}

}  // namespace penstock::bench
