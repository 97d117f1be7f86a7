#pragma once

#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// Whether limits are enforced; the worst last.
enum class Enforcement : std::uint8_t { Enforcing, Degraded, NotEnforcing };
[[nodiscard]] std::string_view to_string(Enforcement state) noexcept;
[[nodiscard]] std::optional<Enforcement> parse_enforcement(std::string_view text) noexcept;

// What decides it on one node.
struct EnforcementInput {
  std::string store_error{};  // empty while the store serves
  Instant store_down_since{};
  std::size_t workers = 1;
  std::size_t workers_without_store = 0;
  std::string reload_error{};
  // Rules, by what happens to them while the store is down. Shadow rules are not among them.
  std::vector<std::string> open{};
  std::size_t closed = 0;
  std::size_t local = 0;
  std::size_t without_store = 0;  // they do not need the store
  std::size_t shadow = 0;
  std::vector<std::string> aborted_rollouts{};
};

struct EnforcementReport {
  Enforcement state = Enforcement::Enforcing;
  std::vector<std::string> reasons{};

  // The state becomes at least this bad.
  void add(Enforcement at_least, std::string reason);
};

// In words for operators.
[[nodiscard]] EnforcementReport assess(const EnforcementInput& input);

// "14:03:12", in UTC.
[[nodiscard]] std::string time_of_day(Instant at);

}  // namespace penstock::http
