#include "vectors/section.hpp"

#include <algorithm>

namespace penstock::vectors {
namespace {

std::string line_start(const char* what, Instant now, std::uint64_t cost) {
  return std::string(what) + " " + std::to_string(now.time_since_epoch().count()) + " " +
         std::to_string(cost);
}

std::string quota_line(const Quota& quota) {
  std::string line = "quota " + std::string(to_string(quota.algorithm())) +
                     " limit=" + std::to_string(quota.limit()) +
                     " period_us=" + std::to_string(quota.period().count());
  if (quota.is_bucket()) line += " burst=" + std::to_string(quota.capacity());
  if (quota.algorithm() == Algorithm::SubWindows) {
    line += " parts=" + std::to_string(quota.sub_window_count());
  }
  return line + "\n";
}

oracle::Step random_step(SplitMix64& random, std::uint8_t jumps) {
  oracle::Step step;
  step.jump = static_cast<oracle::Jump>(random.below(jumps));
  const bool usual = random.below(2) == 0;
  step.ask = usual ? oracle::Ask::One : static_cast<oracle::Ask>(random.below(oracle::kAsks));
  step.action = random.below(100) < 85 ? oracle::Action::Check : oracle::Action::Refund;
  step.draw = random.next() >> 2U;
  return step;
}

}  // namespace

Section::Section(const std::string& comment, const Quota& quota)
    : quota_(quota),
      keeping_(oracle::make_model(quota)),
      forgetting_(oracle::make_model(quota)),
      deleting_(oracle::make_model(quota)),
      text_("\n# " + comment + "\n" + quota_line(quota)) {}

void Section::forget_if_unused(Instant now) {
  if (now >= unused_at_) forgetting_ = oracle::make_model(quota_);
}

oracle::Answer Section::peek(Instant now) {
  unused_at_ = now + forgetting_->peek(Cost{0}, now).reset_after;
  if (deleting_->peek(Cost{0}, now).reset_after == Duration{0}) {
    deleting_ = oracle::make_model(quota_);
  }
  return keeping_->peek(Cost{1}, now);
}

oracle::Answer Section::check(Instant now, std::uint64_t cost) {
  forget_if_unused(now);
  const oracle::Answer answer = keeping_->peek(Cost{cost}, now);
  if (answer != forgetting_->peek(Cost{cost}, now)) return peek(now);
  if (answer != deleting_->peek(Cost{cost}, now)) return peek(now);
  static_cast<void>(keeping_->check(Cost{cost}, now));
  static_cast<void>(forgetting_->check(Cost{cost}, now));
  static_cast<void>(deleting_->check(Cost{cost}, now));
  text_ += line_start("check", now, cost) + " -> " + to_string(answer) + "\n";
  return peek(now);
}

oracle::Answer Section::refund(Instant now, std::uint64_t cost) {
  forget_if_unused(now);
  keeping_->refund(Cost{cost}, now);
  forgetting_->refund(Cost{cost}, now);
  deleting_->refund(Cost{cost}, now);
  text_ += line_start("refund", now, cost) + "\n";
  return peek(now);
}

void Section::walk(SplitMix64& random, int lines, std::uint8_t jumps) {
  oracle::Walk path(quota_);
  for (int line = 0; line < lines; ++line) {
    const oracle::Step step = random_step(random, jumps);
    const oracle::Move move = path.next(step);
    // Costs that a double can represent exactly.
    const std::uint64_t cost = std::min(move.cost.units, std::uint64_t{1} << 52U);
    const bool is_check = move.action == oracle::Action::Check;
    // A refund of nothing need not reach a store.
    path.observe(is_check ? check(move.now, cost)
                          : refund(move.now, std::max<std::uint64_t>(cost, 1)));
  }
}

}  // namespace penstock::vectors
