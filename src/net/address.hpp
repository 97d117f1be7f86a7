#pragma once

#include <cstdint>
#include <string>

// Plain values of the configuration; `rules` reads them, `net` uses them.
namespace penstock::net {

struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// "127.0.0.1:8080", "[::1]:8080".
[[nodiscard]] inline std::string to_string(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

struct TlsFiles {
  std::string certificate{};  // PEM, with its chain
  std::string key{};
  std::string client_ca{};  // if set, clients must present a certificate of this authority

  friend bool operator==(const TlsFiles&, const TlsFiles&) = default;
};

}  // namespace penstock::net
