#pragma once

#include "penstock/decision.hpp"
#include "rules/model/ruleset.hpp"

#include <span>
#include <string>

namespace penstock::app {

// The rules and limits of a request. REQUIRES: the referenced objects outlive it.
struct Explained {
  const rules::Request* request = nullptr;
  const rules::Explanation* explanation = nullptr;
  std::span<const Decision> decisions{};  // of the matching limits; empty when no store was queried
};

// Without decisions, only deny and allow lists are considered.
[[nodiscard]] bool would_pass(const Explained& explained);

// Several lines of text, and the same as JSON.
[[nodiscard]] std::string as_text(const Explained& explained);
[[nodiscard]] std::string as_json(const Explained& explained);

}  // namespace penstock::app
