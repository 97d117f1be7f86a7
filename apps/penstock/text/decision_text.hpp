#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"
#include "rules/model/ruleset.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penstock::app {

// In one line unless `indent` is given. Texts of clients may be invalid UTF-8, which JSON cannot
// represent: such bytes are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

// The request of a decision. REQUIRES: `key` and `rule` outlive it.
struct CheckInfo {
  std::string_view key;
  Quota quota;
  Cost cost;
  std::string_view rule{};  // empty if the limit has no rule
};

// Several lines of text.
[[nodiscard]] std::string as_paragraph(const CheckInfo& check_info, const Decision& decision);

// One line for the `turn`th of several decisions.
[[nodiscard]] std::string as_line(std::int64_t turn, const Decision& decision);

// One line without the newline. Field names are part of the interface: tests/e2e/cli_test.py.
[[nodiscard]] std::string as_json(const CheckInfo& check_info, const Decision& decision);

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
