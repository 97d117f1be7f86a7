#include "conformance/suite.hpp"

#include <cstdlib>
#include <random>
#include <sstream>

// Every store gives the same answers as the memory store, apart from times.
namespace penstock::conformance {
namespace {

// Without times, which depend on when the request arrived.
std::string timeless(const Result<Decision>& decision) {
  if (!decision) return decision.error().detail;
  std::ostringstream text;
  text << to_string(decision->outcome()) << " " << decision->remaining() << "/" << decision->limit()
       << " by " << decision->decided_by() << " "
       << (decision->reset_after() > Duration{0} ? "used" : "unused");
  return text.str();
}

std::string text_of(std::string_view what, std::string_view key, const Quota& quota, Cost cost) {
  return std::string(what) + " " + std::string(key) + " (" + to_string(quota) + ", cost " +
         std::to_string(cost.units) + ")";
}

std::string text_of(std::string_view what, std::string_view key, const Limits& limits, Cost cost) {
  std::string text(what);
  for (std::size_t i = 0; i < limits.size(); ++i) text += text_of(",", key, limits[i].quota, cost);
  return text;
}

std::string text_of(std::string_view what, std::span<const Check> checks) {
  std::string text(what);
  for (const Check& check : checks) text += text_of(",", check.key, check.quota, check.cost);
  return text;
}

std::string text_of(const Result<bool>& flag) {
  return flag ? std::to_string(static_cast<int>(*flag)) : flag.error().detail;
}

class SameAnswers : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    const char* seed = std::getenv("PENSTOCK_SEED");
    seed_ = seed == nullptr ? std::random_device{}() : std::stoull(seed);
    random_.seed(seed_);
    for (int i = 0; i < 20; ++i) {
      const Algorithm algorithm = reference::kAlgorithms[below(reference::kAlgorithms.size())];
      quotas_.push_back(long_quota(1 + static_cast<std::int64_t>(below(20)), algorithm));
    }
  }

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::string key() { return "key " + std::to_string(below(8)); }
  // In a cluster, a refunded charge stays recorded under the new quota, while the memory store
  // never applied it. There the keys of check_all have quotas that nothing else changes.
  static std::string start_of_several() {
    return GetParam() == BackendKind::Cluster ? "several " : "key ";
  }
  const Quota& quota() { return quotas_[below(quotas_.size())]; }
  Cost cost() { return Cost{below(4) == 0 ? below(25) : below(4)}; }
  Limits limits() {
    std::vector<Limit> list;
    for (std::uint64_t i = 0; i <= below(4); ++i) {
      list.push_back({.name = "limit " + std::to_string(i), .quota = quota()});
    }
    return Limits::make(list).value();
  }

  // Sends the same request to both.
  void ask(const std::string& what, const std::function<std::string(AnyLimiter&)>& question) {
    const std::string expected = question(*embedded_);
    history_ += what + " -> " + expected + "\n";
    ASSERT_EQ(question(limiter()), expected) << history_ << "PENSTOCK_SEED=" << seed_;
  }

  void ask_several();
  void ask_batch();
  void ask_one();

  std::mt19937_64 random_;
  std::uint64_t seed_ = 0;
  std::string history_;
  std::vector<Quota> quotas_;
  std::unique_ptr<AnyLimiter> embedded_ = embedded_limiter();
};

void SameAnswers::ask_several() {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 5; ++i) keys.push_back(start_of_several() + std::to_string(i));
  std::vector<Check> checks;
  for (std::uint64_t i = 0; i <= below(5); ++i) {
    const std::size_t number = below(keys.size());
    // One key has one quota within a request.
    checks.push_back({.key = keys[number], .quota = quotas_[number], .cost = cost()});
  }
  ask(text_of("check_all", checks), [&](AnyLimiter& limiter) {
    std::vector<Decision> each(checks.size());
    const Result<Decision> all = limiter.check_all(checks, each);
    // Keys charged by one batch have one timestamp in memory and several in Redis: of two with
    // nearly equal waits, either may decide.
    const bool may_differ = all && !all->allowed();
    std::string text = may_differ ? std::string(to_string(all->outcome())) : timeless(all);
    for (const Decision& decision : each) text += ", " + timeless(decision);
    return text;
  });
}

void SameAnswers::ask_batch() {
  std::vector<std::string> keys;
  std::vector<Check> checks;
  for (int i = 0; i < 20; ++i) keys.push_back(key());
  for (const std::string& each : keys) {
    checks.push_back({.key = each, .quota = quota(), .cost = cost()});
  }
  ask(text_of("check_each", checks), [&](AnyLimiter& limiter) {
    std::string text;
    for (const Result<Decision>& decision : limiter.check_each(checks)) {
      text += timeless(decision) + ", ";
    }
    return text;
  });
}

void SameAnswers::ask_one() {
  const std::string name = key();
  const std::string any_name = below(2) == 0 ? name : start_of_several() + std::to_string(below(5));
  const Quota one = quota();
  const Limits several = limits();
  const Cost units = cost();
  switch (below(12)) {
    case 0: return ask_several();
    case 1: return ask_batch();
    case 2:
      return ask(text_of("refund", name, one, units),
                 [&](auto& limiter) { return timeless(limiter.refund(name, one, units)); });
    case 3:
      return ask(text_of("refund", name, several, units),
                 [&](auto& limiter) { return timeless(limiter.refund(name, several, units)); });
    case 4:
      return ask("reset " + any_name,
                 [&](auto& limiter) { return text_of(limiter.reset(any_name)); });
    case 5:
      return ask(text_of("reset", name, several, units),
                 [&](auto& limiter) { return text_of(limiter.reset(name, several)); });
    case 6:
      if (below(3) > 0) return;
      return ask("block " + any_name, [&](auto& limiter) {
        const Result<void> blocked = limiter.block(any_name, std::chrono::hours{1});
        return blocked ? std::string() : blocked.error().detail;
      });
    case 7:
      return ask("unblock " + any_name,
                 [&](auto& limiter) { return text_of(limiter.unblock(any_name)); });
    case 8:
    case 9:
      return ask(text_of("check", name, several, units),
                 [&](auto& limiter) { return timeless(limiter.check(name, several, units)); });
    default:
      return ask(text_of("check", name, one, units),
                 [&](auto& limiter) { return timeless(limiter.check(name, one, units)); });
  }
}

TEST_P(SameAnswers, AsTheEmbeddedStore) {
  for (int i = 0; i < 1'500 && !HasFatalFailure(); ++i) ask_one();
}

INSTANTIATE_TEST_SUITE_P(Backends, SameAnswers, ::testing::ValuesIn(kBackendKinds), name_of);

}  // namespace
}  // namespace penstock::conformance
