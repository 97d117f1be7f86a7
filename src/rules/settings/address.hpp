#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::rules {

struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// "127.0.0.1:8080", "[::1]:8080"; empty for anything else.
[[nodiscard]] std::optional<Address> parse_address(std::string_view text);

struct TlsFiles {
  std::string certificate{};  // PEM, with its chain
  std::string key{};
  std::string client_ca{};  // when given, clients must show a certificate of this authority

  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

}  // namespace penstock::rules
