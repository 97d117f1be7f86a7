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

// Several limits that hold for the same key at once, each under a name of its own: ten a second and
// five thousand a day, say. Built once, used for every request.
class Limits {
 public:
  // Names must be there and differ: a key's count is kept under the limit's name.
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
