#include "oracle/buckets.hpp"

#include <algorithm>

namespace penstock::oracle {
namespace {

using boost::multiprecision::cpp_int;

Rational micros(Instant instant) { return instant.time_since_epoch().count(); }

cpp_int round_up(const Rational& value) {
  const cpp_int down = numerator(value) / denominator(value);
  return down * denominator(value) == numerator(value) ? down : down + 1;
}

}  // namespace

TokenBucketModel::TokenBucketModel(const Quota& quota)
    : Model(quota.capacity()),
      capacity_(quota.capacity()),
      tokens_per_micro_(Rational(quota.limit()) / Rational(quota.period().count())) {}

std::unique_ptr<Model> TokenBucketModel::clone() const {
  return std::make_unique<TokenBucketModel>(*this);
}

TokenBucketModel::Level TokenBucketModel::level_at(Instant now) const {
  if (!level_) return {capacity_, now};
  if (now <= level_->counted_at) return *level_;
  const Rational refilled = tokens_per_micro_ * Rational((now - level_->counted_at).count());
  return {std::min<Rational>(capacity_, level_->tokens + refilled), now};
}

void TokenBucketModel::repair(Instant now) {
  if (!level_) return;
  const cpp_int behind = (level_->counted_at - now).count();
  if (behind > round_up(capacity_ / tokens_per_micro_)) level_->counted_at = now;
}

bool TokenBucketModel::fits(std::uint64_t cost, Instant now) const {
  return level_at(now).tokens >= Rational(cost);
}

bool TokenBucketModel::unused(Instant now) const { return level_at(now).tokens == capacity_; }

void TokenBucketModel::take(std::uint64_t cost, Instant now) {
  level_ = level_at(now);
  level_->tokens -= cost;
}

void TokenBucketModel::refund_units(std::uint64_t cost, Instant now) {
  if (!level_) return;
  level_ = level_at(now);
  level_->tokens = std::min<Rational>(capacity_, level_->tokens + cost);
}

GcraModel::GcraModel(const Quota& quota)
    : Model(quota.capacity()),
      emission_interval_(Rational(quota.period().count()) / Rational(quota.limit())),
      burst_time_(emission_interval_ * quota.capacity()) {}

std::unique_ptr<Model> GcraModel::clone() const { return std::make_unique<GcraModel>(*this); }

void GcraModel::repair(Instant now) {
  if (!arrival_) return;
  arrival_ = std::min<Rational>(*arrival_, micros(now) + burst_time_);
}

bool GcraModel::fits(std::uint64_t cost, Instant now) const {
  const Rational ahead = unused(now) ? Rational(0) : Rational(*arrival_ - micros(now));
  return ahead + emission_interval_ * cost <= burst_time_;
}

bool GcraModel::unused(Instant now) const { return !arrival_ || *arrival_ <= micros(now); }

void GcraModel::take(std::uint64_t cost, Instant now) {
  const Rational from = unused(now) ? micros(now) : *arrival_;
  arrival_ = from + emission_interval_ * cost;
}

void GcraModel::refund_units(std::uint64_t cost, Instant now) {
  if (!arrival_) return;
  arrival_ = std::max<Rational>(micros(now), *arrival_ - emission_interval_ * cost);
}

}  // namespace penstock::oracle
