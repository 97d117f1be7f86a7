#pragma once

#include "penstock/decision.hpp"
#include "rules/model/ruleset.hpp"

#include <span>
#include <string>

namespace penstock::app {

// What is known about a request. REQUIRES: what it points to lives as long.
struct Explained {
  const rules::Request* request = nullptr;
  const rules::Explanation* explanation = nullptr;
  std::span<const Decision> decisions{};  // of the limits that apply; empty when not looked up
};

// As far as it is known: lists are, counts only when they were looked up.
[[nodiscard]] bool would_pass(const Explained& explained);

// Several lines for people, and the same for programs.
[[nodiscard]] std::string as_text(const Explained& explained);
[[nodiscard]] std::string as_json(const Explained& explained);

}  // namespace penstock::app
