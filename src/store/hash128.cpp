#include "store/hash128.hpp"

#include "base/check.hpp"

#include <bit>
#include <cstring>

namespace penstock::store {
namespace {

struct SipState {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }

  std::uint64_t squeeze() noexcept {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

static_assert(std::endian::native == std::endian::little,
              "words are read in the byte order of SipHash");

}  // namespace

Hash128 sip_hash(const std::array<std::uint64_t, 2>& key, std::string_view text) noexcept {
  // the constants spell "somepseudorandomlygeneratedbytes"; 0xee and 0xdd mark the 128-bit variant
  SipState state{.v0 = key[0] ^ 0x736f6d6570736575U,
                 .v1 = key[1] ^ 0x646f72616e646f6dU ^ 0xeeU,
                 .v2 = key[0] ^ 0x6c7967656e657261U,
                 .v3 = key[1] ^ 0x7465646279746573U};
  std::size_t position = 0;
  for (; position + 8 <= text.size(); position += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + position, 8);
    state.absorb(word);
  }
  std::uint64_t last = 0;
  if (position < text.size()) std::memcpy(&last, text.data() + position, text.size() - position);
  state.absorb(last | (std::uint64_t{text.size()} << 56U));
  state.v2 ^= 0xeeU;
  Hash128 hash;
  hash.high = state.squeeze();
  state.v1 ^= 0xddU;
  hash.low = state.squeeze();
  return hash;
}

}  // namespace penstock::store

#if defined(__x86_64__)

#include <immintrin.h>

#define PENSTOCK_USES_AES __attribute__((target("aes,sse4.1")))

namespace penstock::store {
namespace {

using Words = std::array<std::uint64_t, 2>;

PENSTOCK_USES_AES inline __m128i load(const Words& words) noexcept {
  return _mm_set_epi64x(static_cast<long long>(words[1]), static_cast<long long>(words[0]));
}

PENSTOCK_USES_AES inline __m128i load_block(const char* data) noexcept {
  Words words;
  std::memcpy(words.data(), data, 16);
  return load(words);
}

// Up to 16 bytes, reading none beyond them. Together with the length, which is hashed too, the
// words tell the bytes.
PENSTOCK_USES_AES inline __m128i load_short(const char* data, std::size_t size) noexcept {
  Words words{};
  if (size >= 8) {
    std::memcpy(words.data(), data, 8);
    std::memcpy(&words[1], data + size - 8, 8);
  } else if (size >= 4) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, data, 4);
    std::memcpy(&last, data + size - 4, 4);
    words = {first, last};
  } else if (size > 0) {
    const auto byte = [&](std::size_t at) {
      return std::uint64_t{static_cast<unsigned char>(data[at])};
    };
    words[0] = byte(0) | (byte(size / 2) << 8U) | (byte(size - 1) << 16U);
  }
  return load(words);
}

}  // namespace

bool AesHash::is_supported() noexcept {
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1");
}

AesHash::AesHash(const std::array<std::uint64_t, 2>& secret) noexcept : masks_{}, round_keys_{} {
  char label = 0;
  const auto next_secret = [&]() -> Block {
    ++label;
    const Hash128 hash = sip_hash(secret, {&label, 1});
    return {.words = {hash.high, hash.low}};
  };
  for (Block& mask : masks_) mask = next_secret();
  for (Block& key : round_keys_) key = next_secret();
}

PENSTOCK_USES_AES Hash128 AesHash::operator()(std::string_view text,
                                              std::uint64_t purpose) const noexcept {
  const __m128i key0 = load(round_keys_[0].words);
  const __m128i key1 = load(round_keys_[1].words);
  const __m128i key2 = load(round_keys_[2].words);
  const __m128i key3 = load(round_keys_[3].words);
  const auto four_rounds = [&](__m128i block) PENSTOCK_USES_AES {
    block = _mm_aesenc_si128(block, key0);
    block = _mm_aesenc_si128(block, key1);
    block = _mm_aesenc_si128(block, key2);
    return _mm_aesenc_si128(block, key3);
  };

  const char* data = text.data();
  const std::size_t size = text.size();
  __m128i mask = load(masks_[0].words);
  __m128i sum;
  if (size <= 16) {
    sum = four_rounds(_mm_xor_si128(load_short(data, size), mask));
  } else {
    sum = four_rounds(_mm_xor_si128(load_block(data), mask));
    std::size_t index = 1;
    for (std::size_t position = 16; position < size; position += 16, ++index) {
      // the last block overlaps the one before instead of reading past the end
      const std::size_t at = position + 16 <= size ? position : size - 16;
      mask = index < kMasks ? load(masks_[index].words)
                            : _mm_aesenc_si128(mask, load(round_keys_[6].words));
      sum = _mm_xor_si128(sum, four_rounds(_mm_xor_si128(load_block(data + at), mask)));
    }
  }
  sum = _mm_xor_si128(sum, load({size, purpose}));
  sum = _mm_aesenc_si128(sum, load(round_keys_[4].words));
  sum = _mm_aesenc_si128(sum, load(round_keys_[5].words));
  return {.high = static_cast<std::uint64_t>(_mm_extract_epi64(sum, 1)),
          .low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(sum))};
}

}  // namespace penstock::store

#else

namespace penstock::store {

bool AesHash::is_supported() noexcept { return false; }

AesHash::AesHash(const std::array<std::uint64_t, 2>& /*secret*/) noexcept
    : masks_{}, round_keys_{} {}

Hash128 AesHash::operator()(std::string_view /*text*/, std::uint64_t /*purpose*/) const noexcept {
  PENSTOCK_CHECK(is_supported());
  return {};
}

}  // namespace penstock::store

#endif
