#include "redis_store/redis_operator_store.hpp"

#include "redis_store/replay/state_codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace penstock::redis_store {
namespace {

using store::OperatorAction;
using store::Override;

const Instant kSetAt{Duration{1'700'000'000'000'000}};
const Instant kExpiresAt = kSetAt + std::chrono::hours{1};

std::string with_times(Instant at, Instant expires, const std::string& rest) {
  PackedWriter writer;
  for (const Instant time : {at, expires}) {
    writer.number(static_cast<std::uint64_t>(time.time_since_epoch().count()), 7);
  }
  return std::move(writer.text(rest)).bytes();
}

RC_GTEST_PROP(OperatorEncoding, OverridesAreReadAsTheyWereWritten,
              (const std::string& subject, const std::string& reason)) {
  for (const Override::Effect effect :
       {Override::Effect::Limit, Override::Effect::Multiply, Override::Effect::Shadow}) {
    const Override set{.rule = "api/search",
                       .subject = subject,
                       .effect = effect,
                       .value = effect == Override::Effect::Shadow ? "" : "500/m burst 20",
                       .reason = reason,
                       .by = "alice",
                       .set_at = kSetAt,
                       .expires_at = kExpiresAt};
    const std::string bytes = with_times(kSetAt, kExpiresAt, encode(set));
    RC_ASSERT(decode_override(bytes) == set);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      RC_ASSERT(!decode_override(bytes.substr(0, size)));
    }
  }
}

RC_GTEST_PROP(OperatorEncoding, ActionsAreReadAsTheyWereWritten,
              (const std::string& subject, const std::string& detail)) {
  const OperatorAction action{.kind = OperatorAction::Kind::Unblock,
                              .by = "alice",
                              .rule = "api/search",
                              .domain = "api",
                              .subject = subject,
                              .detail = detail,
                              .reason = "incident 12",
                              .at = kSetAt};
  RC_ASSERT(decode_action(with_times(kSetAt, Instant{}, encode(action))) == action);
}

TEST(OperatorEncoding, RejectsUnknownEffectsAndKinds) {
  EXPECT_FALSE(decode_override(""));
  EXPECT_FALSE(decode_override(with_times(kSetAt, kExpiresAt, std::string("\x04\0stop", 6))));
  EXPECT_FALSE(decode_action(with_times(kSetAt, kExpiresAt, std::string("\x04\0\0\0stop", 8))));
}

}  // namespace
}  // namespace penstock::redis_store
