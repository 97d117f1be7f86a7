#include "wire/grpc/rate_limit_messages.hpp"
#include "wire/grpc/wire_format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace penstock::wire::grpc {
namespace {

// The fields of proto/envoy/service/ratelimit/v3/rls.proto and of the descriptors in it.
namespace request {
constexpr unsigned char kDomain = text_tag(1);
constexpr unsigned char kDescriptors = text_tag(2);
constexpr unsigned char kHitsAddend = number_tag(3);
}  // namespace request
namespace descriptor {
constexpr unsigned char kEntries = text_tag(1);
}
namespace entry {
constexpr unsigned char kEntryKey = text_tag(1);
constexpr unsigned char kEntryValue = text_tag(2);
}  // namespace entry

// Protobuf rejects strings that are not UTF-8; ASCII always is.
bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t seen = 0;
  for (; text.size() >= sizeof seen; text.remove_prefix(sizeof seen)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    seen |= word;
  }
  for (const char letter : text) seen |= static_cast<unsigned char>(letter);
  return (seen & kHighBits) == 0;
}

bool read_text(WireReader& reader, std::string_view& out) {
  return reader.text(out) && is_ascii(out);
}

bool read_entry(std::string_view bytes, rules::Attribute& out) {
  WireReader reader(bytes);
  while (!reader.is_empty()) {
    const unsigned char tag = reader.tag();
    if (tag == entry::kEntryKey) {
      if (!read_text(reader, out.name)) return false;
    } else if (tag != entry::kEntryValue || !read_text(reader, out.value)) {
      return false;
    }
  }
  return true;
}

bool read_descriptor(std::string_view bytes, rules::Descriptor& out) {
  out.entries.clear();
  out.cost.reset();
  out.limit.reset();
  out.is_refund = false;
  WireReader reader(bytes);
  while (!reader.is_empty()) {
    std::string_view text;
    if (reader.tag() != descriptor::kEntries || !reader.text(text)) return false;
    if (out.entries.size() == rules::kMaxEntries) return false;
    if (!read_entry(text, out.entries.emplace_back())) return false;
  }
  return true;
}

// Grows only, so that the descriptors keep their buffers.
rules::Descriptor& descriptor_at(std::size_t place, rules::Request& out) {
  if (out.descriptors.size() <= place) out.descriptors.resize(place + 1);
  return out.descriptors[place];
}

}  // namespace

bool read_plain_request(std::string_view bytes, rules::Request& out) {
  std::size_t count = 0;
  std::uint64_t hits = 0;
  out.domain = {};
  WireReader reader(bytes);
  while (!reader.is_empty()) {
    const unsigned char tag = reader.tag();
    if (tag == request::kDescriptors) {
      std::string_view text;
      if (!reader.text(text) || count == rules::kMaxDescriptors) return false;
      if (!read_descriptor(text, descriptor_at(count++, out))) return false;
    } else if (tag == request::kDomain) {
      if (!read_text(reader, out.domain)) return false;
    } else if (tag != request::kHitsAddend || !reader.number(hits) ||
               hits > std::numeric_limits<std::uint32_t>::max()) {
      return false;
    }
  }
  if (out.domain.empty() || count == 0) return false;
  out.descriptors.resize(count);
  out.cost = Cost{std::max<std::uint64_t>(hits, 1)};
  return true;
}

}  // namespace penstock::wire::grpc
