#pragma once

#include "apps/command_line/style.hpp"
#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
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
[[nodiscard]] std::string as_paragraph(const CheckInfo& check_info, const Decision& decision,
                                       Colour colour);

// One line for the `turn`th of several decisions.
[[nodiscard]] std::string as_line(std::int64_t turn, const Decision& decision, Colour colour);

// One line without the newline. Field names are part of the interface: tests/e2e/cli_test.py.
[[nodiscard]] std::string as_json(const CheckInfo& check_info, const Decision& decision);

}  // namespace penstock::app
