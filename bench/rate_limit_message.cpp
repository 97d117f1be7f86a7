#include "bench/rate_limit_message.hpp"

#include <algorithm>
#include <array>

namespace penstock::bench {
namespace {

// A protocol buffers tag: field number and wire type.
enum WireType : std::uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
constexpr unsigned kTypeBits = 3;
constexpr std::string_view kKeyPlaceholder = "{key}";

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7fU) | 0x80U);
  out += static_cast<char>(value);
}

void append_tag(std::string& out, std::uint32_t field, WireType type) {
  append_varint(out, (std::uint64_t{field} << kTypeBits) | type);
}

void append_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  append_tag(out, field, Bytes);
  append_varint(out, bytes.size());
  out += bytes;
}

void append_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  append_tag(out, field, Varint);
  append_varint(out, value);
}

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

bool skip(std::string_view& bytes, std::size_t count) {
  if (count > bytes.size()) return false;
  bytes.remove_prefix(count);
  return true;
}

bool skip_value(std::string_view& bytes, std::uint64_t type) {
  switch (type) {
    case Varint: return take_varint(bytes).has_value();
    case Fixed64: return skip(bytes, 8);
    case Fixed32: return skip(bytes, 4);
    case Bytes: {
      const auto length = take_varint(bytes);
      return length && skip(bytes, *length);
    }
    default: return false;
  }
}

void append_descriptor(std::string& out, const DescriptorPattern& pattern,
                       const std::optional<RequestLimit>& limit, std::string_view key) {
  bool has_key = false;
  std::string descriptor;
  for (const DescriptorPart& part : pattern) {
    const bool is_key = part.value == kKeyPlaceholder;
    has_key = has_key || is_key;
    std::string entry;
    append_bytes(entry, 1, part.name);
    append_bytes(entry, 2, is_key ? key : std::string_view(part.value));
    append_bytes(descriptor, 1, entry);
  }
  if (has_key && limit) {
    std::string written;
    append_number(written, 1, limit->requests);
    append_number(written, 2, limit->unit);
    append_bytes(descriptor, 2, written);
  }
  append_bytes(out, 2, descriptor);
}

}  // namespace

Result<DescriptorPattern> parse_descriptor(std::string_view text) {
  DescriptorPattern pattern;
  std::string_view left = text;
  while (true) {
    const std::string_view part = left.substr(0, left.find(','));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error{ErrorCode::InvalidInput, "descriptor \"" + std::string(text) + "\": \"" +
                                                std::string(part) + "\" is not NAME=VALUE"};
    }
    pattern.push_back({.name = std::string(part.substr(0, equals)),
                       .value = std::string(part.substr(equals + 1))});
    if (part.size() == left.size()) return pattern;
    left.remove_prefix(part.size() + 1);
  }
}

Result<RequestLimit> RequestLimit::of(const Quota& quota) {
  using std::chrono::hours;
  constexpr std::array<Duration, 4> kUnits{std::chrono::seconds{1}, std::chrono::minutes{1},
                                           hours{1}, hours{24}};
  const auto* const unit = std::find(kUnits.begin(), kUnits.end(), quota.period());
  if (unit == kUnits.end() || quota.algorithm() != Algorithm::FixedWindow) {
    return Error{ErrorCode::InvalidInput, "\"" + to_string(quota) +
                                              "\" cannot be sent in a request: use a number per "
                                              "second, minute, hour or day"};
  }
  return RequestLimit{.requests = quota.limit(),
                      .unit = static_cast<std::uint32_t>(unit - kUnits.begin()) + 1};
}

void append_rate_limit_request(std::string& out, const RateLimitRequestSpec& request_spec,
                               std::string_view key) {
  append_bytes(out, 1, request_spec.domain);
  for (const DescriptorPattern& pattern : request_spec.descriptors) {
    append_descriptor(out, pattern, request_spec.limit, key);
  }
}

Result<OverallCode> read_overall_code(std::string_view message) {
  std::uint64_t code = 0;
  std::string_view left = message;
  while (!left.empty()) {
    const auto tag = take_varint(left);
    const bool is_code = tag == ((std::uint64_t{1} << kTypeBits) | Varint);
    const auto value = is_code ? take_varint(left) : std::nullopt;
    if (value) code = *value;
    if (!tag || (is_code ? !value : !skip_value(left, *tag & ((1U << kTypeBits) - 1U)))) {
      return Error{ErrorCode::Protocol, "malformed RateLimitResponse"};
    }
  }
  if (code == 1) return OverallCode::Ok;
  return code == 2 ? OverallCode::OverLimit : OverallCode::Unknown;
}

}  // namespace penstock::bench
