#pragma once

#include "apps/command_line/style.hpp"
#include "apps/penstock/remote/daemon_access.hpp"
#include "apps/penstock/top/top_text.hpp"
#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

// The full-screen view of `penstock top`, as text.
namespace penstock::app {

// All requests of the daemon since its start.
struct RequestTotals {
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
};

// Reads /metrics of the admin port.
[[nodiscard]] Result<RequestTotals> read_totals(const DaemonAnswer& answer);

// Requests per second between two readings, in tenths. A daemon that was restarted between them
// counts from zero.
struct RequestRates {
  std::uint64_t requests_tenths = 0;
  std::uint64_t denied_tenths = 0;
};
[[nodiscard]] RequestRates rates_between(const RequestTotals& before, const RequestTotals& after,
                                         Duration elapsed);

enum class TopOrder : std::uint8_t { Requests, Denied, DeniedShare };

// Sorts rows that the daemon returned in another order.
void sort_rows(Top& top, TopOrder order);

struct ScreenSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

struct TopScreen {
  std::string url{};
  Top top{};
  RequestTotals totals{};
  std::optional<RequestRates> rates{};  // from the second reading on
  TopOrder order = TopOrder::Requests;
  std::string error{};  // of the last call; the numbers are then those before it
};

// A screen of exactly size.rows lines without a final newline; no line is wider than the screen.
[[nodiscard]] std::string draw_top(const TopScreen& screen, ScreenSize size, Colour colour);

}  // namespace penstock::app
