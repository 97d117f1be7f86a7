#include "service/local_fallback.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::service {
namespace {

RC_GTEST_PROP(OutageLedger, GivesOutEveryUnitOnceOrCountsItAsLost,
              (const std::vector<unsigned char>& notes)) {
  OutageLedger ledger(5);
  std::uint64_t noted = 0;
  std::uint64_t given = 0;
  const auto take = [&](std::size_t most) {
    const auto entries = ledger.take(most);
    RC_ASSERT(entries.size() <= most);
    for (const OutageLedger::Entry& entry : entries) given += entry.units;
  };
  for (const unsigned note : notes) {
    ledger.note({std::to_string(note % 8), "l"}, per_minute(3), note);
    noted += note;
    RC_ASSERT(ledger.totals().names <= 5U);
    if (note % 11 == 0) take(2);
  }
  take(5);
  RC_ASSERT(ledger.is_empty());
  RC_ASSERT(noted == given + ledger.totals().lost);
}

TEST(OutageLedger, KeepsOneEntryForANameWithTheLoosestOfItsQuotas) {
  OutageLedger ledger;
  ledger.note({"s", "l"}, per_minute(5), 2);
  ledger.note({"s", "l"}, per_minute(6), 2);
  ledger.note({"s", "l"}, per_minute(4), 1);
  const auto entries = ledger.take(9);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].quota, Quota(per_minute(6)));
  EXPECT_EQ(entries[0].units, 5U);
  EXPECT_TRUE(ledger.take(9).empty());
}

}  // namespace
}  // namespace penstock::service
