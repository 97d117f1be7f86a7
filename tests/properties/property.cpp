#include "properties/property.hpp"

#include <algorithm>
#include <cstdlib>

namespace penstock::properties {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlowdown = 15;
#elif !defined(__OPTIMIZE__)
constexpr int kSlowdown = 5;
#else
constexpr int kSlowdown = 1;
#endif

}  // namespace

int cases(int usual) {
  const char* factor = std::getenv("PENSTOCK_STEPS");
  const int wanted = usual * (factor == nullptr ? 1 : std::max(1, std::atoi(factor)));
  return std::max(1, wanted / kSlowdown);
}

}  // namespace penstock::properties
