#include "differential/world.hpp"
#include "reference/quotas.hpp"

#include <gtest/gtest.h>

// Random histories: the scripts decide and write the same as the core.
namespace penstock::differential {
namespace {

constexpr std::size_t kDefaultSteps = 100'000;
constexpr int kRoundsOfWorld = 30;

class Histories : public ::testing::TestWithParam<Algorithm> {
 protected:
  static void SetUpTestSuite() { redis_ = std::make_unique<VirtualRedis>(); }
  static void TearDownTestSuite() { redis_.reset(); }

  static std::unique_ptr<VirtualRedis> redis_;
};

std::unique_ptr<VirtualRedis> Histories::redis_;

TEST_P(Histories, AreEqualInRedisAndInTheCore) {
  Random random(seed() + static_cast<std::uint64_t>(GetParam()));
  const std::size_t wanted = scaled(kDefaultSteps);
  std::size_t steps = 0;
  for (std::size_t world_number = 0; steps < wanted; ++world_number) {
    const bool mixed = world_number % 2 == 1;
    const ClockMoves moves = world_number / 2 % 2 == 0 ? ClockMoves::Forward : ClockMoves::Anyhow;
    std::vector<Quota> quotas = mixed ? draw_related(random, GetParam())
                                      : std::vector<Quota>{draw_quota(random, GetParam())};
    World world(*redis_, random, quotas, moves);
    for (int round = 0; round < kRoundsOfWorld; ++round) {
      const std::string problem = world.round();
      ASSERT_EQ(problem, "") << "PENSTOCK_SEED=" << seed() << ", world " << world_number
                             << ", round " << round;
    }
    steps += world.steps();
  }
  RecordProperty("steps", static_cast<int>(steps));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Histories, ::testing::ValuesIn(reference::kAlgorithms),
                         reference::name_of);

}  // namespace
}  // namespace penstock::differential
