#pragma once

#include "base/deadline.hpp"
#include "core/permit_set.hpp"
#include "store/answered.hpp"

#include <cstdint>
#include <string>

namespace penstock::store {

// One permit of a key.
struct PermitName {
  std::string key;
  std::string id;  // chosen by the caller; makes acquire() idempotent
};

// Holders of the permits of concurrency limits, see core::PermitSet.
//
// Thread-safety: none; everything happens on one event loop.
class PermitStore {
 public:
  static constexpr Duration kMaxLifetime = Days{1};  // of a permit, without renewal
  static constexpr Duration kDefaultLifetime = std::chrono::seconds{30};
  static constexpr std::int64_t kMaxPermits = 1'000'000;
  static constexpr std::size_t kMaxIdLength = 200;

  PermitStore() = default;
  PermitStore(const PermitStore&) = delete;
  PermitStore& operator=(const PermitStore&) = delete;
  virtual ~PermitStore() = default;

  // REQUIRES, here and below: 0 < lasts <= kMaxLifetime, 0 < limit <= kMaxPermits.
  virtual void acquire(PermitName permit, std::uint32_t limit, Duration lasts,
                       base::Deadline deadline, Answered<core::PermitResult> answered) = 0;
  virtual void renew(PermitName permit, Duration lasts, base::Deadline deadline,
                     Answered<core::PermitResult> answered) = 0;
  // Whether it was held.
  virtual void release(PermitName permit, base::Deadline deadline, Answered<bool> answered) = 0;
};

}  // namespace penstock::store
