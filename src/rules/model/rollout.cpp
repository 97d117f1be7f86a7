#include "rules/model/rollout.hpp"

#include "base/text.hpp"

namespace penstock::rules {
namespace {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325U;
constexpr std::uint64_t kFnvPrime = 0x100000001b3U;

std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) noexcept {
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * kFnvPrime;
  return hash;
}

// fmix64 of MurmurHash3: FNV alone mixes the last bytes too little.
std::uint64_t finalize(std::uint64_t hash) noexcept {
  constexpr unsigned kShift = 33;
  hash = (hash ^ hash >> kShift) * 0xff51afd7ed558ccdU;
  hash = (hash ^ hash >> kShift) * 0xc4ceb9fe1a85ec53U;
  return hash ^ hash >> kShift;
}

}  // namespace

std::string percent_text(BasisPoints share) {
  std::string text = std::to_string(share / 100);
  if (const BasisPoints rest = share % 100; rest != 0) {
    text += '.';
    text += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) text += static_cast<char>('0' + rest % 10);
  }
  return text + '%';
}

std::optional<BasisPoints> parse_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t point = text.find('.');
  const auto whole = base::parse_number<BasisPoints>(text.substr(0, point));
  if (!whole || *whole > 100) return std::nullopt;
  BasisPoints share = *whole * 100;
  if (point != std::string_view::npos) {
    const std::string_view decimals = text.substr(point + 1);
    const auto rest = base::parse_number<BasisPoints>(decimals);
    if (!rest || decimals.size() > 2) return std::nullopt;
    share += decimals.size() == 1 ? *rest * 10 : *rest;
  }
  return share <= kWhole ? std::optional(share) : std::nullopt;
}

BasisPoints rollout_place(std::string_view domain, std::string_view rule,
                          std::string_view subject) noexcept {
  std::uint64_t hash = fnv1a(kFnvOffset, domain);
  hash = fnv1a(hash, "/");
  hash = fnv1a(hash, rule);
  hash = fnv1a(hash, "\n");
  hash = fnv1a(hash, subject);
  return static_cast<BasisPoints>(finalize(hash) % kWhole);
}

}  // namespace penstock::rules
