#pragma once

#include "penstock/quota.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::bench {

// The baseline: a mutex, a map and a token bucket in floating point.
class NaiveLimiter {
 public:
  explicit NaiveLimiter(const Quota& quota)
      : burst_(quota.capacity()),
        tokens_per_second_(quota.limit() / std::chrono::duration<double>(quota.period()).count()) {}

  bool check(std::string_view key) {
    const double now =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    const std::lock_guard guard(mutex_);
    const auto [entry, is_new] =
        buckets_.try_emplace(std::string(key), Bucket{.tokens = burst_, .last = now});
    Bucket& bucket = entry->second;
    bucket.tokens = std::min(burst_, bucket.tokens + (now - bucket.last) * tokens_per_second_);
    bucket.last = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

 private:
  struct Bucket {
    double tokens;
    double last;
  };

  double burst_;
  double tokens_per_second_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace penstock::bench
