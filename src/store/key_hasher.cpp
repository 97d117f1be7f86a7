#include "store/key_hasher.hpp"

#include "store/hash128.hpp"

#include <random>

namespace penstock::store {

KeyHasher::Secret KeyHasher::random_secret() {
  std::random_device source;
  const auto word = [&] { return (std::uint64_t{source()} << 32U) | source(); };
  return {word(), word()};
}

KeyHasher::KeyHasher(const Secret& secret, Engine engine) noexcept : secret_(secret) {
  if (engine == Engine::Fastest && AesHash::is_supported()) aes_.emplace(secret);
}

Hash128 KeyHasher::hash(std::string_view text, Purpose purpose) const noexcept {
  const auto number = static_cast<std::uint64_t>(purpose);
  if (aes_) [[likely]] {
    return (*aes_)(text, number);
  }
  return sip_hash({secret_[0] ^ number, secret_[1]}, text);
}

Hash128 KeyHasher::limit_of(Hash128 key, std::string_view name) const noexcept {
  constexpr std::uint64_t kBelowShard = ~std::uint64_t{0} >> kShardBits;
  const Hash128 limit = hash(name, Purpose::LimitName);
  return {.high = key.high ^ (limit.high & kBelowShard), .low = key.low ^ limit.low};
}

}  // namespace penstock::store
