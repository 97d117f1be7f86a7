#pragma once

#include "penstock/decision.hpp"
#include "penstock/quota.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct Limit {
  std::string name;
  Quota quota;
};

// Several limits of one key, each with a name: 10 per second and 5000 per day, for example. Built
// once, used for every request.
class Limits {
 public:
  // Names must be non-empty and distinct: usage is stored under them.
  [[nodiscard]] static Result<Limits> make(std::vector<Limit> limits);

  [[nodiscard]] std::size_t size() const noexcept { return limits_.size(); }
  [[nodiscard]] const Limit& operator[](std::size_t index) const noexcept { return limits_[index]; }
  // The limit that decided.
  [[nodiscard]] std::string_view name_of(const Decision& decision) const noexcept {
    return limits_[decision.decided_by()].name;
  }

 private:
  explicit Limits(std::vector<Limit> limits) : limits_(std::move(limits)) {}

  std::vector<Limit> limits_;
};

}  // namespace penstock
