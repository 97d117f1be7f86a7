#pragma once

#include "apps/penstock/remote/daemon_access.hpp"
#include "penstock/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::app {

// The subjects with the most requests or denials, in the order of the daemon.
struct Top {
  struct Row {
    std::string rule{};
    std::string subject{};
    std::uint64_t requests = 0;
    std::uint64_t denied = 0;
  };

  std::string by{};  // "requests" or "denied"
  std::vector<Row> rows{};
};

// Reads the response of the admin port to /top.
[[nodiscard]] Result<Top> read_top(const DaemonAnswer& answer);

// A subject or rule for a terminal: control characters are replaced, empty names are written out.
[[nodiscard]] std::string shown_rule(const Top::Row& row);
[[nodiscard]] std::string shown_subject(const Top::Row& row);

// What is shown in place of rows when there are none.
[[nodiscard]] std::string no_rows_text(const Top& top);

// A table of plain text.
[[nodiscard]] std::string top_table(const Top& top);

// One line.
[[nodiscard]] std::string top_json(const Top& top);

}  // namespace penstock::app
