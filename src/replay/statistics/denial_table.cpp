#include "replay/statistics/denial_table.hpp"

#include "base/check.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

namespace penstock::replay {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint32_t);
constexpr std::size_t kDigestBytes = 8;

// "...#0123456789abcdef": the same in every run. SHA-256, so that clients cannot choose collisions.
std::string digest_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  PENSTOCK_CHECK(
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
  std::string out = "...#";
  for (std::size_t i = 0; i < kDigestBytes; ++i) {
    out += kHex[digest[i] >> 4U];
    out += kHex[digest[i] & 15U];
  }
  return out;
}

}  // namespace

void DeniedSpans::add(Duration length) noexcept {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), length);
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  ++spans;
  longest = std::max(longest, length);
}

void DenialTable::deny(std::uint32_t limit, std::string_view subject, Instant time,
                       Duration pause) {
  ++denied_[limit];
  const std::string_view key = key_of(limit, subject);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= max_subjects_) {
      ++not_listed_;
      return;
    }
    ++subjects_[limit];
    const Entry entry{.limit = limit, .first = time, .last = time, .since = time};
    found = entries_.emplace(key, entry).first;
  }
  Entry& entry = found->second;
  if (time - entry.last > pause) {
    close(entry);
    entry.since = time;
  }
  entry.last = time;
  ++entry.denied;
}

void DenialTable::finish() {
  for (auto& [key, entry] : entries_) close(entry);
}

void DenialTable::close(Entry& entry) {
  const Duration length = entry.last - entry.since;
  entry.longest = std::max(entry.longest, length);
  spans_.add(length);
}

std::vector<DenialTable::Subject> DenialTable::top(std::size_t most) const {
  std::vector<Subject> all;
  all.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
    all.push_back({.limit = entry.limit,
                   .text = std::string_view(key).substr(kNumberBytes),
                   .denied = entry.denied,
                   .first = entry.first,
                   .last = entry.last,
                   .longest = entry.longest});
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(
      all.begin(), all.begin() + count, all.end(), [](const Subject& a, const Subject& b) {
        return std::tie(b.denied, a.limit, a.text) < std::tie(a.denied, b.limit, b.text);
      });
  all.resize(static_cast<std::size_t>(count));
  return all;
}

std::string_view DenialTable::key_of(std::uint32_t limit, std::string_view subject) {
  key_.resize(kNumberBytes);
  std::memcpy(key_.data(), &limit, kNumberBytes);
  if (subject.size() <= kMaxSubjectBytes) return key_.append(subject);
  const std::string digest = digest_text(subject);
  return key_.append(subject.substr(0, kMaxSubjectBytes - digest.size())).append(digest);
}

}  // namespace penstock::replay
