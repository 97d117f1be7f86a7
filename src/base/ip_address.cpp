#include "base/ip_address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace penstock::base {
namespace {

constexpr std::size_t kV4Start = 12;

template <class Number>
bool read_number(std::string_view text, int base, std::size_t most_digits, Number& number) {
  if (text.empty() || text.size() > most_digits) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number, base);
  return failure == std::errc{} && stop == end && text.front() != '-';
}

bool read_v4(std::string_view text, std::uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) {
    const std::size_t dot = i < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return false;
    const std::string_view part = text.substr(0, dot);
    unsigned value = 0;
    if (!read_number(part, 10, 3, value) || value > 255) return false;
    if (part.size() > 1 && part.front() == '0') return false;
    bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return true;
}

// The groups of one side of "::", as bytes. An IPv4 address may be the last.
std::optional<std::size_t> read_groups(std::string_view text, std::uint8_t* bytes,
                                       std::size_t room) {
  std::size_t length = 0;
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (colon == std::string_view::npos && part.find('.') != std::string_view::npos) {
      if (length + 4 > room || !read_v4(part, bytes + length)) return std::nullopt;
      return length + 4;
    }
    unsigned value = 0;
    if (length + 2 > room || !read_number(part, 16, 4, value)) return std::nullopt;
    bytes[length++] = static_cast<std::uint8_t>(value >> 8U);
    bytes[length++] = static_cast<std::uint8_t>(value & 0xffU);
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (text.empty()) return std::nullopt;
  }
  return length;
}

bool read_v6(std::string_view text, std::array<std::uint8_t, 16>& bytes) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    return read_groups(text, bytes.data(), bytes.size()) == bytes.size();
  }
  std::array<std::uint8_t, 16> tail{};
  const std::string_view before = text.substr(0, gap);
  if (before.find('.') != std::string_view::npos) return false;
  const auto head = read_groups(before, bytes.data(), bytes.size());
  const auto rest = read_groups(text.substr(gap + 2), tail.data(), tail.size());
  if (!head || !rest || *head + *rest > bytes.size() - 2) return false;
  std::copy_n(tail.begin(), *rest, bytes.end() - static_cast<std::ptrdiff_t>(*rest));
  return true;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  std::array<std::uint8_t, 16> bytes{};
  if (text.find(':') == std::string_view::npos) {
    bytes[10] = bytes[11] = 0xff;
    if (!read_v4(text, bytes.data() + kV4Start)) return std::nullopt;
  } else {
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    if (!read_v6(text.substr(0, text.find('%')), bytes)) return std::nullopt;
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
  if (!read_number(text.substr(slash + 1), 10, 3, network.prefix)) return std::nullopt;
  if (network.prefix > address->bits() || address->network(network.prefix) != *address) {
    return std::nullopt;
  }
  return network;
}

}  // namespace penstock::base
