#pragma once

#include "base/deadline.hpp"
#include "store/answered.hpp"
#include "store/counter_values.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::store {

// Atomic counters. A name has an integer and a decimal, which are independent.
//
// Thread-safety: none; everything happens on one event loop.
class CounterStore {
 public:
  CounterStore() = default;
  CounterStore(const CounterStore&) = delete;
  CounterStore& operator=(const CounterStore&) = delete;
  virtual ~CounterStore() = default;

  virtual void add(CounterKind kind, std::string name, std::int64_t delta,
                   std::optional<Duration> lifetime, base::Deadline deadline,
                   Answered<std::int64_t> answered) = 0;
  virtual void get(CounterKind kind, std::string name, base::Deadline deadline,
                   Answered<std::int64_t> answered) = 0;
  virtual void read_counter(std::string name, base::Deadline deadline,
                            Answered<CounterValues> answered) = 0;
  // Removes both counters of the name. Answers whether one existed.
  virtual void remove(std::string name, base::Deadline deadline, Answered<bool> answered) = 0;
  // Sets the lifetime of both counters, or only of those that never expire. Answers whether one was
  // changed.
  virtual void expire(std::string name, Duration lifetime, ExpireCondition condition,
                      base::Deadline deadline, Answered<bool> answered) = 0;
};

}  // namespace penstock::store
