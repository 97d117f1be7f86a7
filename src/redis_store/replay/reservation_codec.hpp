#pragma once

#include "penstock/result.hpp"
#include "resp/value.hpp"
#include "store/reservation_store.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Encoding of reservations in Redis; docs/redis-keys.md describes it for operators.
namespace penstock::redis_store {

// For each limit: weight and counts_for in microseconds, 8 bytes each; when the highest bit of
// counts_for is set, the lifetime of a strict lease in microseconds, 8 bytes; then subject, limit
// and quota, each a text preceded by its length in 4 bytes. Little-endian.
[[nodiscard]] std::string encode(const std::vector<store::HeldUnits>& held);
// Empty for bytes that encode() would not write.
[[nodiscard]] std::optional<std::vector<store::HeldUnits>> decode_held(std::string_view bytes);

// Of reservation.lua.
[[nodiscard]] Result<store::ReservationAnswer> read_reservation(const Result<resp::Value>& reply);

}  // namespace penstock::redis_store
