#include "store/sip_hash.hpp"

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
