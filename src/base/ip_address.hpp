#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::base {

// An address of either kind; ::ffff:1.2.3.4 is the same as 1.2.3.4.
class IpAddress {
 public:
  // "203.0.113.7", "2001:db8::1", "[2001:db8::1]", with or without a zone ("%eth0"), which is
  // dropped. A number with a leading zero is rejected: parsers disagree about it.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);

  [[nodiscard]] bool is_v4() const noexcept { return high_ == 0 && low_ >> 32U == 0xffff; }
  [[nodiscard]] unsigned bits() const noexcept { return is_v4() ? 32 : 128; }
  // The network with this prefix that contains it. REQUIRES: prefix <= bits().
  [[nodiscard]] IpAddress network(unsigned prefix) const noexcept;
  // The canonical form (RFC 5952).
  void append_to(std::string& text) const;

  [[nodiscard]] std::size_t hash() const noexcept {
    return (high_ ^ (low_ * 0x9e3779b97f4a7c15U)) * 0xff51afd7ed558ccdU;
  }

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  // IPv4 as ::ffff:a.b.c.d
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

// "10.0.0.0/8", "2001:db8::/32", or one address.
struct IpNetwork {
  IpAddress address{};
  unsigned prefix = 0;

  // Empty when malformed; bits beyond the prefix must be zero.
  [[nodiscard]] static std::optional<IpNetwork> parse(std::string_view text);
  [[nodiscard]] bool contains(const IpAddress& other) const {
    return other.is_v4() == address.is_v4() && other.network(prefix) == address;
  }
};

}  // namespace penstock::base
