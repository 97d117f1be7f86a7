#pragma once

#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::app {

// The busiest, or most refused, subjects of a daemon, in its order.
struct Top {
  struct Row {
    std::string rule{};
    std::string subject{};
    std::uint64_t count = 0;
  };

  std::string by{};  // what is counted: "requests" or "denied"
  std::vector<Row> rows{};
};

// What the admin port answers to /top.
[[nodiscard]] Result<Top> read_top(const DaemonAnswer& answer);

// For people: a line for each below a line of titles. Control characters do not reach the terminal.
[[nodiscard]] std::string top_table(const Top& top);

// One line.
[[nodiscard]] std::string top_json(const Top& top);

}  // namespace penstock::app
