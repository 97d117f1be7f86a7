#include "base/text_hash.hpp"

#include <random>

namespace penstock::base {
namespace {

std::uint64_t random_word() {
  std::random_device source;
  return (std::uint64_t{source()} << 32U) | source();
}

}  // namespace

const std::uint64_t TextHash::kSecret = random_word();

}  // namespace penstock::base
