#include "http/client_address.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace penstock::http {
namespace {

using base::IpAddress;
using base::IpNetwork;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string to_text(const IpAddress& address) {
  std::string text;
  address.append_to(text);
  return text;
}

// Nothing, or a colon and digits.
bool is_port(std::string_view text) {
  return text.empty() || (text.starts_with(':') &&
                          text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

std::string_view first_of(std::span<const Field> fields, std::string_view lower_case) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
    return base::equals_ignoring_case(field.name, lower_case);
  });
  return found == fields.end() ? std::string_view{} : found->value;
}

// Walks the fields and their lists from the right. Empty when there is no such field.
std::optional<IpAddress> from_forwarded_for(std::span<const Field> fields,
                                            const TrustedProxies& trusted) {
  std::optional<IpAddress> nearest;
  // NOLINTNEXTLINE(modernize-loop-convert): clang 14 does not compile std::ranges::reverse_view
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (!base::equals_ignoring_case(field->name, "x-forwarded-for")) continue;
    std::string_view rest = field->value;
    while (!rest.empty()) {
      const std::size_t comma = rest.rfind(',');
      const std::size_t start = comma == std::string_view::npos ? 0 : comma + 1;
      const std::optional<IpAddress> address = read_address(trimmed(rest.substr(start)));
      if (!address) return nearest;  // a trusted proxy did not write the rest
      nearest = address;
      if (!trusted.contains(*address)) return nearest;
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(0, comma);
    }
  }
  return nearest;
}

}  // namespace

Result<TrustedProxies> TrustedProxies::parse(std::span<const std::string> networks) {
  TrustedProxies proxies;
  for (const std::string& text : networks) {
    const std::optional<IpNetwork> network = IpNetwork::parse(text);
    if (!network) {
      return Error{ErrorCode::InvalidInput, "trusted_proxies: \"" + text +
                                                "\" must be an address or a network such as "
                                                "10.0.0.0/8 or 2001:db8::/32"};
    }
    proxies.networks_.push_back(*network);
  }
  return proxies;
}

bool TrustedProxies::contains(const IpAddress& address) const {
  return std::any_of(networks_.begin(), networks_.end(),
                     [&](const IpNetwork& network) { return network.contains(address); });
}

std::optional<IpAddress> read_address(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    if (!is_port(text.substr(end + 1))) return std::nullopt;
    return IpAddress::parse(text.substr(0, end + 1));
  }
  // one colon parts a port from an IPv4 address; several are an IPv6 address
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    if (!is_port(text.substr(colon))) return std::nullopt;
    return IpAddress::parse(text.substr(0, colon));
  }
  return IpAddress::parse(text);
}

std::string client_address(const Request& request, const TrustedProxies& trusted) {
  return client_address(request.peer, request.fields, trusted);
}

std::string client_address(std::string_view peer_text, std::span<const Field> fields,
                           const TrustedProxies& trusted) {
  const std::optional<IpAddress> peer = read_address(peer_text);
  if (!peer) return std::string(peer_text);
  if (!trusted.contains(*peer)) return to_text(*peer);
  if (const auto told = from_forwarded_for(fields, trusted)) return to_text(*told);
  // a list that cannot be read is no reason to believe another field
  if (!first_of(fields, "x-forwarded-for").empty()) return to_text(*peer);
  if (const auto told = read_address(trimmed(first_of(fields, "x-real-ip")))) return to_text(*told);
  return to_text(*peer);
}

}  // namespace penstock::http
