#pragma once

#include "base/ip_address.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// Proxies that are trusted to name the client.
class TrustedProxies {
 public:
  TrustedProxies() = default;
  // "10.0.0.0/8", "::1", "192.0.2.7".
  [[nodiscard]] static Result<TrustedProxies> parse(std::span<const std::string> networks);

  [[nodiscard]] bool contains(const base::IpAddress& address) const;

 private:
  std::vector<base::IpNetwork> networks_;
};

// An address as proxies write it, perhaps with a port: "192.0.2.1:80", "[2001:db8::1]:80".
[[nodiscard]] std::optional<base::IpAddress> read_address(std::string_view text);

// The client behind a chain of proxies: the right-most address of X-Forwarded-For that is not a
// trusted proxy, because everything to its left may be forged; without that field, X-Real-IP. If
// the peer is not trusted: the peer.
[[nodiscard]] std::string client_address(const Request& request, const TrustedProxies& trusted);
[[nodiscard]] std::string client_address(std::string_view peer, std::span<const Field> fields,
                                         const TrustedProxies& trusted);

}  // namespace penstock::http
