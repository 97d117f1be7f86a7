#include "simulation/world.hpp"

#include <algorithm>
#include <utility>

namespace penstock::simulation {
namespace {

using std::chrono::duration_cast;
using std::chrono::floor;

constexpr std::size_t kMaxBroken = 3;  // reported

// One way. A shutting-down node relies on it.
constexpr Moment kMaxDelay = lease::KeyLease::kReportTimeout - std::chrono::milliseconds{1};

}  // namespace

World::World(const Scenario& scenario, Defect defect)
    : scenario_(scenario),
      defect_(defect),
      random_(scenario.seed ^ 0x5eedU),
      store_(scenario.quota, scenario.keys_linger, defect),
      envelope_(scenario.quota),
      hosts_(static_cast<std::size_t>(scenario.nodes)),
      begins_(Duration{1'700'000'000'000'000 + random_.below(1'000'000'000)}) {
  for (Host& host : hosts_) start(host);
}

void World::start(Host& host) {
  host.node = std::make_shared<Node>(*this, scenario_, defect_);
  host.clock_starts = Moment{1 + random_.below(1'000'000'000'000)};
  // Two clocks, each off by up to 200 ppm, measured by the store's clock.
  host.drift_ppm = random_.between(-400, 400);
}

Outcome World::run() {
  at(Moment{random_.wait(scenario_.mean_gap.count())}, [this] { arrive(); });
  if (scenario_.between_faults > Moment{0}) {
    at(Moment{random_.wait(scenario_.between_faults.count())}, [this] { inject_fault(); });
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    event.task();
    const std::string& found = store_.audit().broken();
    if (!found.empty() && outcome_.broken.empty()) promise_broken(found);
  }
  check_answers();
  return outcome_;
}

void World::at(Moment moment, std::function<void()> task) {
  events_.push({.at = std::max(moment, now_), .number = event_number_++, .task = std::move(task)});
}

World::Host& World::host_of(const Node& node) {
  return *std::find_if(hosts_.begin(), hosts_.end(),
                       [&](const Host& host) { return host.node.get() == &node; });
}

const World::Host& World::host_of(const Node& node) const {
  return const_cast<World*>(this)->host_of(node);
}

base::Deadline World::clock_of(const Node& node) const {
  const Host& host = host_of(node);
  // Histories of slow limits last for years: nanoseconds times parts per million would overflow.
  const Moment drift =
      now_ / 1'000'000 * host.drift_ppm + now_ % 1'000'000 * host.drift_ppm / 1'000'000;
  return base::Deadline{host.clock_starts + now_ + drift};
}

Instant World::steady_time() const { return begins_ + floor<Duration>(now_); }

Instant World::store_time() const { return steady_time() + stepped_; }

Moment World::latency() {
  if (random_.percent(2)) {
    return std::min(scenario_.latency * random_.between(1, 30), Moment{kMaxDelay});
  }
  return scenario_.latency / 2 + Moment{random_.below(scenario_.latency.count() + 1)};
}

bool World::is_lost(const Host& host) {
  if (now_ < host.partitioned_until) return true;
  return scenario_.faults.losses && random_.percent(3);
}

void World::post(Node& node, std::function<void()> task) {
  at(now_, [weak = node.weak_from_this(), task = std::move(task)] {
    if (const auto alive = weak.lock()) task();
  });
}

void World::wake_at(Node& node, base::Deadline deadline, std::function<void()> task) {
  const Moment wait = std::max(Moment{0}, Moment{deadline - clock_of(node)});
  at(now_ + wait, [weak = node.weak_from_this(), task = std::move(task)] {
    if (const auto alive = weak.lock()) task();
  });
}

// Like the store's client: at most once, and late answers are dropped.
void World::call(Node& node, std::function<Reply(ModelStore&, Instant)> executed,
                 std::function<void(const Error&)> failed) {
  ++outcome_.calls;
  Host& host = host_of(node);
  const auto weak = node.weak_from_this();
  if (now_ < host.partitioned_until && host.fails_fast) {
    return at(now_, [weak, failed = std::move(failed)] {
      if (const auto alive = weak.lock()) failed({ErrorCode::Unavailable, "cut off"});
    });
  }
  auto is_done = std::make_shared<bool>(false);
  at(now_ + scenario_.timeout, [weak, is_done, failed = std::move(failed)] {
    const auto alive = weak.lock();
    if (alive && !std::exchange(*is_done, true)) failed({ErrorCode::Timeout, "no answer"});
  });
  if (is_lost(host)) return;
  at(now_ + latency(), [this, weak, is_done, executed = std::move(executed)] {
    Reply reply = executed(store_, store_time());
    remember();
    check_leases();
    const auto alive = weak.lock();
    if (!alive || is_lost(host_of(*alive))) return;
    at(now_ + latency(), [weak, is_done, reply = std::move(reply)] {
      const auto still_alive = weak.lock();
      if (still_alive && !std::exchange(*is_done, true)) reply();
    });
  });
}

void World::arrive() {
  if (now_ >= scenario_.length) return;
  const std::int64_t arrivals =
      random_.percent(40) ? 1 : random_.between(1, scenario_.most_at_once);
  const bool is_one_node = random_.percent(50);
  std::int64_t node = random_.below(scenario_.nodes);
  for (std::int64_t n = 0; n < arrivals; ++n) {
    if (!is_one_node) node = random_.below(scenario_.nodes);
    if (scenario_.one_busy_node && random_.percent(80)) node = 0;
    arrive_at(hosts_[static_cast<std::size_t>(node)]);
  }
  const Moment gap = next_gap();
  at(now_ + gap, [this] { arrive(); });
}

Moment World::next_gap() {
  if (!random_.percent(scenario_.idle_percent)) {
    return Moment{random_.wait(scenario_.mean_gap.count())};
  }
  if (scenario_.silence > Moment{0}) return scenario_.silence;
  if (random_.percent(75)) {
    // Slightly before or after the store recounts the leased units.
    const Moment near{random_.between(-2, 1) * random_.below(scenario_.latency.count() + 1)};
    return std::max(Moment{0}, until_boundary() + near);
  }
  const Moment gap = Moment{scenario_.terms.lifetime} * random_.between(70, 105) / 100;
  return random_.percent(20) ? gap * random_.between(2, 5) : gap;
}

// The next end of an epoch, window or sub-window.
Moment World::until_boundary() const {
  Duration step = scenario_.terms.lifetime;
  if (!scenario_.quota.is_bucket()) step = scenario_.quota.period();
  if (scenario_.quota.algorithm() == Algorithm::SubWindows) {
    step /= scenario_.quota.sub_window_count();
  }
  const Duration passed = store_time().time_since_epoch() % step;
  // Not the boundary that was just reached.
  return passed > step - step / 8 ? 2 * step - passed : step - passed;
}

void World::arrive_at(Host& host) {
  const Cost cost{static_cast<std::uint64_t>(random_.between(1, scenario_.most_cost))};
  ++outcome_.checks;
  if (core::decide(ideal_, scenario_.quota, cost, steady_time()).allowed()) {
    outcome_.ideal += cost.units;
  }
  if (!host.node) return;  // the node is down
  Request& request = requests_.emplace_back(*this, cost);
  open_.emplace_back(static_cast<std::size_t>(&host - hosts_.data()), &request);
  host.node->check(request);
  if (open_.size() > 1000) {
    std::erase_if(open_, [](const auto& each) { return each.second->answers() > 0; });
  }
}

void World::note_held(std::uint64_t units) { most_held_ = std::max(most_held_, units); }

// The allowance beyond the limit itself: docs/explanation/guarantees.md.
Envelope::Units World::allowance() const {
  const core::Mode mode = scenario_.terms.mode;
  const bool is_loose = mode == core::Mode::Lease || mode == core::Mode::Adaptive;
  if (!is_loose || !scenario_.quota.is_bucket()) return fault_allowance_;
  return fault_allowance_ +
         std::min(envelope_.refill(scenario_.terms.lifetime),
                  envelope_.tokens(static_cast<std::int64_t>(most_held_) * scenario_.nodes));
}

void World::admit(std::uint64_t units) {
  outcome_.admitted += units;
  const bool is_anchored = scenario_.quota.algorithm() == Algorithm::AnchoredWindow;
  const std::optional<Instant> window = store_.window_end(store_time());
  if (is_anchored && !window && !windows_are_unsure_) {
    promise_broken("spent outside of a window");
  }
  envelope_.admit(units, steady_time(), is_anchored ? window : std::nullopt);
  const Envelope::Units allowed = allowance();
  const Envelope::Units excess = envelope_.excess();
  const auto token = static_cast<double>(envelope_.tokens(1));
  const double in_tokens = static_cast<double>(excess) / token;
  outcome_.excess = outcome_.admitted == units ? in_tokens : std::max(outcome_.excess, in_tokens);
  if (excess > 0 && allowed > 0) {
    outcome_.worst =
        std::max(outcome_.worst, static_cast<double>(excess) / static_cast<double>(allowed));
  }
  if (excess > allowed) {
    promise_broken(std::to_string(in_tokens) + " too many, where " +
                   std::to_string(static_cast<double>(allowed) / token) + " are promised");
  }
  if (now_ < blocked_until_ && now_ > blocked_at_ + Moment{scenario_.terms.lifetime}) {
    promise_broken("admitted although it was blocked");
  }
}

// Units that nodes can spend are recorded as leased in the store.
void World::check_leases() {
  if (scenario_.terms.mode != core::Mode::LeaseStrict || !scenario_.quota.is_bucket()) return;
  if (leases_are_unsure_) return;
  std::uint64_t in_hand = 0;
  for (const Host& host : hosts_) in_hand += host.node ? host.node->in_hand() : 0;
  const std::uint32_t leased = store_.leased(scenario_.terms.lifetime, store_time());
  if (in_hand <= leased) return;
  promise_broken(std::to_string(in_hand) + " can be spent, of which the store knows " +
                 std::to_string(leased));
}

void World::denied_from_cache(const Node& node, Cost cost) {
  ++outcome_.repeated;
  if (now_ < host_of(node).stale_until) return;
  if (!store_.peek(cost, store_time()).allowed()) return;
  promise_broken("denied " + std::to_string(cost.units) + " which the store would admit");
}

void World::promise_broken(std::string what) {
  if (outcome_.broken.size() < kMaxBroken) {
    outcome_.broken.push_back("at " + std::to_string(now_.count() / 1000) +
                              " us: " + std::move(what));
  }
}

void World::check_answers() {
  for (const Request& request : requests_) {
    if (request.answers() == 1 || (request.is_forgotten() && request.answers() == 0)) continue;
    promise_broken("a request was answered " + std::to_string(request.answers()) + " times");
  }
}

}  // namespace penstock::simulation
