#include "differential/key_model.hpp"

#include "reference/show_decision.hpp"

#include <algorithm>
#include <sstream>

namespace penstock::differential {
namespace {

using core::AnyState;
using redis_store::KeyContent;

std::int64_t micros(Instant at) { return at.time_since_epoch().count(); }

// Removes expired log entries and empty sub-windows; keeps the rest.
AnyState plain(AnyState state, const Quota& quota, Instant now) {
  if (auto* log = std::get_if<core::SlidingLog::State>(&state)) {
    log->entries.erase(log->entries.begin(),
                       log->entries.begin() + static_cast<std::ptrdiff_t>(log->expired));
    log->expired = 0;
    while (!log->entries.empty() && log->entries.front().at <= now - quota.period()) {
      log->total -= log->entries.front().weight;
      log->entries.erase(log->entries.begin());
    }
  }
  if (auto* parts = std::get_if<core::SubWindows::State>(&state)) {
    const bool counted = std::any_of(parts->counts.begin(), parts->counts.end(),
                                     [](std::uint32_t count) { return count > 0; });
    if (!counted) *parts = {};
  }
  return state;
}

AnyState settled(AnyState state, const Quota& quota, Instant now) {
  return core::with_algorithm(quota.algorithm(), [&]<class Algorithm>() -> AnyState {
    auto& mine = std::get<typename Algorithm::State>(state);
    static_cast<void>(Algorithm::settle(mine, quota, now));
    return std::move(mine);
  });
}

// A script that writes may bring a state up to date that the core updates later; never the other
// way round.
std::string disagreement_on_state(const KeyContent& mine, const KeyContent& theirs, Instant now,
                                  ClockMoves moves) {
  if (!mine.quota) return "the model has no state";
  const Quota& quota = *mine.quota;
  if (!(quota == *theirs.quota)) return "the model has another quota";
  const AnyState stored = plain(theirs.state, quota, now);
  const AnyState up_to_date = plain(settled(mine.state, quota, now), quota, now);
  if (stored == plain(mine.state, quota, now) || stored == up_to_date) return {};
  if (moves == ClockMoves::Forward) {
    // It may have done so earlier.
    if (plain(settled(theirs.state, quota, now), quota, now) == up_to_date) return {};
    if (core::used(mine.state, quota, now) + core::used(theirs.state, quota, now) == 0) return {};
  }
  return "the model has another state";
}

// Whether an absent key would give the same answers while time moves forward.
bool says_nothing(const KeyContent& content, Instant now) {
  if (now < content.blocked_until) return false;
  if (!content.quota) return true;
  return core::expires_at(content.state, *content.quota) <= now ||
         core::used(content.state, *content.quota, now) == 0;
}

std::string disagreement_on_time(const KeyContent& theirs, std::int64_t expires_ms) {
  if (expires_ms < 0) return "the key never expires";
  const Instant expires{Duration{expires_ms * 1000}};
  if (expires < theirs.blocked_until) return "the key expires before its block ends";
  if (!theirs.quota) return {};
  if (expires < core::expires_at(theirs.state, *theirs.quota)) return "the key expires too early";
  if (expires_ms < theirs.expires_ms) return "the key expires earlier than its state says";
  return {};
}

struct ShowState {
  std::ostream& out;

  void operator()(std::monostate /*state*/) const { out << "no state"; }
  void operator()(const core::TokenBucket::State& state) const {
    out << "full at " << state.full_at.whole << "+" << state.full_at.part << ", last "
        << micros(state.last);
  }
  void operator()(const core::Gcra::State& state) const {
    out << "idle at " << state.idle_at.whole << "+" << state.idle_at.part;
  }
  void operator()(const core::FixedWindow::State& state) const {
    out << "end " << micros(state.end) << ", count " << state.count;
  }
  void operator()(const core::SlidingCounter::State& state) const {
    out << "start " << micros(state.start) << ", current " << state.current << ", previous "
        << state.previous;
  }
  void operator()(const core::SlidingLog::State& state) const {
    out << "total " << state.total << ", expired " << state.expired;
    for (const core::SlidingLog::Entry& entry : state.entries) {
      out << ", " << micros(entry.at) << "*" << entry.weight;
    }
  }
  void operator()(const core::SubWindows::State& state) const {
    out << "newest " << state.newest << ", counts";
    for (const std::uint32_t count : state.counts) out << " " << count;
  }
};

}  // namespace

void KeyModel::note(Instant now, const std::string& what) {
  history.push_back(std::to_string(micros(now)) + " " + what);
}

std::string KeyModel::story() const {
  constexpr std::size_t kMax = 60;
  std::string text = "key " + name + ":\n";
  const std::size_t first = history.size() > kMax ? history.size() - kMax : 0;
  if (first > 0) text += "  (" + std::to_string(first) + " steps before)\n";
  for (std::size_t i = first; i < history.size(); ++i) text += "  " + history[i] + "\n";
  return text;
}

std::string describe(const Result<Decision>& decision) {
  if (!decision)
    return std::string(to_string(decision.error().code)) + ": " + decision.error().detail;
  std::ostringstream out;
  showValue(*decision, out);
  return out.str();
}

std::string describe(const KeyContent& content) {
  std::ostringstream out;
  out << "blocked until " << micros(content.blocked_until) << "; ";
  if (content.quota) out << to_string(*content.quota) << "; ";
  std::visit(ShowState{out}, content.state);
  out << "; expires_ms " << content.expires_ms;
  return out.str();
}

std::string disagreement(const KeyModel& model, const Stored& stored, Instant now,
                         ClockMoves moves) {
  const KeyContent& mine = model.replay.content();
  if (!stored.bytes) {
    if (says_nothing(mine, now)) return {};
    return "Redis has forgotten what still counts: " + describe(mine);
  }
  const std::optional<KeyContent> theirs = redis_store::decode(*stored.bytes);
  if (!theirs) return "Redis holds what cannot be read";
  std::string problem = disagreement_on_time(*theirs, stored.expires_ms);
  const bool blocks_agree = model.replay.is_blocked(now)
                                ? mine.blocked_until == theirs->blocked_until
                                : theirs->blocked_until <= now;
  if (problem.empty() && !blocks_agree) problem = "the model has another block";
  if (problem.empty() && theirs->quota) {
    problem = disagreement_on_state(mine, *theirs, now, moves);
  }
  if (problem.empty() && !theirs->quota && !model.replay.is_blocked(now) &&
      !says_nothing(mine, now)) {
    problem = "the model has a state";
  }
  if (problem.empty()) return {};
  return problem + "\n  model: " + describe(mine) + "\n  Redis: " + describe(*theirs) +
         "\n  PEXPIRETIME " + std::to_string(stored.expires_ms);
}

void forget_what_redis_forgot(KeyModel& model, const Stored& stored) {
  if (!stored.bytes) {
    model.replay = {};
    return;
  }
  std::optional<KeyContent> theirs = redis_store::decode(*stored.bytes);
  if (theirs) model.replay = redis_store::KeyReplay(*std::move(theirs));
}

}  // namespace penstock::differential
