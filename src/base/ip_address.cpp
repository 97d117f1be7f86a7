#include "base/ip_address.hpp"

#include "base/text.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstddef>

namespace penstock::base {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const bool is_v6 = text.find(':') != std::string_view::npos;
  if (is_v6) {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    text = text.substr(0, text.find('%'));
  }
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  text.copy(terminated.data(), text.size());
  std::array<std::uint8_t, 16> bytes{};
  constexpr std::size_t kV4Start = 12;
  if (!is_v6) bytes[10] = bytes[11] = 0xff;
  if (inet_pton(is_v6 ? AF_INET6 : AF_INET, terminated.data(),
                bytes.data() + (is_v6 ? 0 : kV4Start)) != 1) {
    return std::nullopt;
  }
  IpAddress address;
  for (std::size_t i = 0; i < 8; ++i) {
    address.high_ = address.high_ << 8U | bytes[i];
    address.low_ = address.low_ << 8U | bytes[i + 8];
  }
  return address;
}

IpAddress IpAddress::network(unsigned prefix) const noexcept {
  const unsigned kept = prefix + (is_v4() ? 96 : 0);
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  IpAddress cut = *this;
  cut.high_ &= kept == 0 ? 0 : kept < 64 ? kAll << (64 - kept) : kAll;
  cut.low_ &= kept <= 64 ? 0 : kept < 128 ? kAll << (128 - kept) : kAll;
  return cut;
}

void IpAddress::append_to(std::string& text) const {
  std::array<char, 8> digits{};
  const auto append = [&](std::uint64_t value, int base) {
    auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    text.append(digits.data(), end);
  };
  if (is_v4()) {
    for (unsigned shift = 32; shift > 0; shift -= 8) {
      if (shift < 32) text += '.';
      append(low_ >> (shift - 8) & 0xffU, 10);
    }
    return;
  }
  const auto group = [&](std::size_t i) {
    return (i < 4 ? high_ : low_) >> (48U - 16U * (i % 4)) & 0xffffU;
  };
  std::size_t gap = 8;
  std::size_t gap_length = 1;  // a single zero is written out
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && group(end) == 0) ++end;
    if (end - i > gap_length) {
      gap = i;
      gap_length = end - i;
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      text += "::";
      i += gap_length - 1;
      continue;
    }
    if (i > 0 && i != gap + gap_length) text += ':';
    append(group(i), 16);
  }
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  IpNetwork network{.address = *address, .prefix = address->bits()};
  if (slash == std::string_view::npos) return network;
  const std::string_view digits = text.substr(slash + 1);
  const auto prefix = digits.size() <= 3 ? parse_number<unsigned>(digits) : std::nullopt;
  if (!prefix || *prefix > address->bits() || address->network(*prefix) != *address) {
    return std::nullopt;
  }
  network.prefix = *prefix;
  return network;
}

}  // namespace penstock::base
