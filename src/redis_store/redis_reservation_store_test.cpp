#include "redis_store/redis_reservation_store.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::redis_store {
namespace {

using namespace std::chrono_literals;
using store::HeldUnits;

HeldUnits held(core::SharingTerms terms) {
  return {.name = {"user=7", "api/tokens"},
          .quota = Quota::parse("100/h").value(),
          .weight = 3,
          .counts_for = 90s,
          .terms = terms};
}

TEST(ReservationCodec, ReadsWhatItWrote) {
  const std::vector<HeldUnits> all{
      held({}), held({.mode = core::Mode::LeaseStrict, .lifetime = 250ms}), held({})};
  EXPECT_EQ(decode_held(encode(all)), all);
}

// The encoding of earlier versions.
TEST(ReservationCodec, AddsNothingForExactLimits) {
  const HeldUnits exact = held({});
  const std::size_t texts =
      exact.name.subject.size() + exact.name.limit.size() + to_string(exact.quota).size();
  EXPECT_EQ(encode({exact}).size(), 8U + 8U + 3U * 4U + texts);
}

TEST(ReservationCodec, RejectsTruncatedBytes) {
  const std::string bytes = encode({held({.mode = core::Mode::LeaseStrict})});
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(decode_held(bytes.substr(0, size)), std::nullopt) << size;
  }
}

}  // namespace
}  // namespace penstock::redis_store
