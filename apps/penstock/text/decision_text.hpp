#pragma once

#include "penstock/check.hpp"
#include "penstock/decision.hpp"
#include "penstock/quota.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::app {

// What a decision answers. REQUIRES: the text behind `key` lives as long.
struct CheckInfo {
  std::string_view key;
  Quota quota;
  Cost cost;
  std::string_view rule{};  // whose limit it is, if a rule's
};

// Several lines for people.
[[nodiscard]] std::string as_paragraph(const CheckInfo& check_info, const Decision& decision);

// One line, for the `turn`th decision in a row.
[[nodiscard]] std::string as_line(std::int64_t turn, const Decision& decision);

// One line without the newline. Field names are a promise: tests/e2e/cli_test.py.
[[nodiscard]] std::string as_json(const CheckInfo& check_info, const Decision& decision);

}  // namespace penstock::app
