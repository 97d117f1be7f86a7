#include "redis_store/keys/key_layout.hpp"

#include "base/text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace penstock::redis_store {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kHashBytes = 16;
constexpr std::string_view kKinds = "lecdnarso";  // of KeyKind
constexpr std::string_view kNodes = "nodes";      // a single set
constexpr std::array<std::string_view, 3> kNodeParts{"summaries", "histories", "watched"};
constexpr std::string_view kAudit = "audit";                // a single key
constexpr std::string_view kReservations = "reservations";  // all in one slot
constexpr std::string_view kOperators = "operators";        // in one slot
constexpr std::string_view kOverrides = "overrides";
constexpr std::string_view kActions = "actions";

void append_hex(std::string& text, unsigned char byte) {
  text += kDigits[byte >> 4U];
  text += kDigits[byte & 15U];
}

// Bytes with a meaning in a key, by their value.
constexpr auto kReserved = [] {
  std::array<bool, 256> reserved{};
  for (std::size_t byte = 0; byte <= ' '; ++byte) reserved[byte] = true;
  for (const char byte : {'%', '{', '}', '#', '\x7f'}) {
    reserved[static_cast<unsigned char>(byte)] = true;
  }
  return reserved;
}();

bool is_reserved(char letter) { return kReserved[static_cast<unsigned char>(letter)]; }

void append_hash(std::string& text, std::string_view part) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // fails only when out of memory; the key is then that of a hash of zeros
  static_cast<void>(
      EVP_Digest(part.data(), part.size(), digest.data(), &size, EVP_sha256(), nullptr));
  text += '#';
  for (std::size_t i = 0; i < kHashBytes; ++i) append_hex(text, digest[i]);
}

// Appends the part. An empty one is written as "%", so that the hash tag is never empty.
void append_escaped(std::string& text, std::string_view part) {
  if (part.empty()) {
    text += '%';
    return;
  }
  if (part.size() > KeyLayout::kMaxPartLength) return append_hash(text, part);
  const std::size_t start = text.size();
  for (std::string_view rest = part; !rest.empty();) {
    const auto* const reserved = std::find_if(rest.begin(), rest.end(), is_reserved);
    const auto plain = static_cast<std::size_t>(reserved - rest.begin());
    text.append(rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    text += '%';
    append_hex(text, static_cast<unsigned char>(rest.front()));
    rest.remove_prefix(1);
  }
  if (text.size() - start <= KeyLayout::kMaxPartLength) return;
  text.resize(start);
  append_hash(text, part);
}

std::optional<std::string> unescaped(std::string_view text) {
  if (text == "%") return std::string{};
  std::optional<std::string> part = base::percent_decoded(text);
  // a hash is not written again, and anything else only as append_escaped() writes it
  if (!part || text.starts_with('#')) return part;
  std::string again;
  append_escaped(again, *part);
  if (again != text) return std::nullopt;
  return part;
}

std::string in_braces(const std::string& start, KeyKind kind, std::string_view subject) {
  std::string key;
  key.reserve(start.size() + subject.size() + 4);
  key += start;
  key += static_cast<char>(kind);
  key += ":{";
  append_escaped(key, subject);
  key += '}';
  return key;
}

std::string with_name(std::string key, std::string_view name) {
  key += ':';
  append_escaped(key, name);
  return key;
}

}  // namespace

std::string KeyLayout::limit(std::string_view subject) const {
  return in_braces(start_, KeyKind::Limit, subject);
}

std::string KeyLayout::limit(std::string_view subject, std::string_view name) const {
  return with_name(limit(subject), name);
}

std::string KeyLayout::escrow(std::string_view subject) const {
  return in_braces(start_, KeyKind::Escrow, subject);
}

std::string KeyLayout::escrow(std::string_view subject, std::string_view name) const {
  return with_name(escrow(subject), name);
}

std::string KeyLayout::counter(std::string_view name) const {
  return in_braces(start_, KeyKind::Counter, name);
}

std::string KeyLayout::decimal_counter(std::string_view name) const {
  return in_braces(start_, KeyKind::DecimalCounter, name);
}

std::string KeyLayout::nodes() const { return in_braces(start_, KeyKind::Nodes, kNodes); }

std::string KeyLayout::node_summaries() const { return with_name(nodes(), kNodeParts[0]); }

std::string KeyLayout::node_histories() const { return with_name(nodes(), kNodeParts[1]); }

std::string KeyLayout::nodes_watched() const { return with_name(nodes(), kNodeParts[2]); }

std::string KeyLayout::audit() const { return in_braces(start_, KeyKind::Audit, kAudit); }

std::string KeyLayout::reservations() const {
  return in_braces(start_, KeyKind::Reservation, kReservations);
}

std::string KeyLayout::reservation(std::string_view id) const {
  return with_name(reservations(), id);
}

std::string KeyLayout::permits(std::string_view key) const {
  return in_braces(start_, KeyKind::Permits, key);
}

std::string KeyLayout::overrides() const {
  return with_name(in_braces(start_, KeyKind::Operators, kOperators), kOverrides);
}

std::string KeyLayout::actions() const {
  return with_name(in_braces(start_, KeyKind::Operators, kOperators), kActions);
}

std::optional<KeyName> read_key(std::string_view key, const KeyLayout& layout) {
  if (!key.starts_with(layout.start())) return std::nullopt;
  key.remove_prefix(layout.start().size());
  if (key.size() < 4 || key.substr(1, 2) != ":{") return std::nullopt;
  KeyName name;
  if (kKinds.find(key.front()) == std::string_view::npos) return std::nullopt;
  name.kind = static_cast<KeyKind>(key.front());
  const std::size_t close = key.find('}');
  if (close == std::string_view::npos) return std::nullopt;
  const std::optional<std::string> subject = unescaped(key.substr(3, close - 3));
  if (!subject) return std::nullopt;
  name.subject = *subject;
  if (name.kind == KeyKind::Nodes && name.subject != kNodes) return std::nullopt;
  if (name.kind == KeyKind::Audit && name.subject != kAudit) return std::nullopt;
  if (name.kind == KeyKind::Reservation && name.subject != kReservations) return std::nullopt;
  const std::string_view rest = key.substr(close + 1);
  if (name.kind == KeyKind::Operators) {
    if (name.subject != kOperators) return std::nullopt;
    for (const std::string_view known : {kOverrides, kActions}) {
      if (rest.substr(0, 1) == ":" && rest.substr(1) == known) name.limit_name = known;
    }
    return name.limit_name.empty() ? std::nullopt : std::optional(name);
  }
  if (rest.empty()) return name;
  if (name.kind == KeyKind::Nodes) {
    for (const std::string_view part : kNodeParts) {
      if (rest.front() == ':' && rest.substr(1) == part) name.limit_name = part;
    }
    return name.limit_name.empty() ? std::nullopt : std::optional(name);
  }
  const bool has_more = name.kind == KeyKind::Limit || name.kind == KeyKind::Escrow ||
                        name.kind == KeyKind::Reservation;
  if (!has_more || !rest.starts_with(':')) return std::nullopt;
  const std::optional<std::string> limit_name = unescaped(rest.substr(1));
  if (!limit_name) return std::nullopt;
  name.limit_name = *limit_name;
  return name;
}

}  // namespace penstock::redis_store
