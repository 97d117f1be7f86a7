#include "base/join.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::base {
namespace {

TEST(Join, IsDoneWhenTheLastPartFinishes) {
  int done = 0;
  Join join([&] { ++done; });
  join.add();
  join.add();
  join.finish_one();
  EXPECT_EQ(done, 0);
  EXPECT_EQ(join.open(), 1U);
  join.finish_one();
  EXPECT_EQ(done, 1);
}

TEST(Join, WaitsForTheLoopThatStartsTheParts) {
  int done = 0;
  Join join([&] { ++done; });
  join.add();
  for (int part = 0; part < 3; ++part) {
    join.add();
    join.finish_one();
    EXPECT_EQ(done, 0);
  }
  join.finish_one();
  EXPECT_EQ(done, 1);
}

TEST(Join, CanBeUsedAgainByWhatItCalls) {
  std::vector<int> rounds;
  Join* again = nullptr;
  Join join([&] {
    rounds.push_back(static_cast<int>(rounds.size()));
    if (rounds.size() == 3) return;
    again->add();
    again->finish_one();
  });
  again = &join;
  join.add();
  join.finish_one();
  EXPECT_EQ(rounds.size(), 3U);
}

}  // namespace
}  // namespace penstock::base
