#include "base/wide.hpp"

#include "differential/random.hpp"
#include "servers/redis_server.hpp"
#include "servers/temp_directory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

// multiply_divide of wide.lua against 128-bit integers.
namespace penstock::differential {
namespace {

constexpr std::uint64_t kExact = std::uint64_t{1} << 53U;    // largest exact Lua integer
constexpr std::uint64_t kDivisor = std::uint64_t{1} << 45U;  // largest divisor

struct Sum {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 1;

  [[nodiscard]] base::Wide product() const { return static_cast<base::Wide>(a) * b; }
  [[nodiscard]] bool is_allowed() const { return product() / c < kExact; }
  [[nodiscard]] std::string expected() const {
    return std::to_string(static_cast<std::uint64_t>(product() / c)) + " " +
           std::to_string(static_cast<std::uint64_t>(product() % c));
  }
};

std::uint64_t draw(Random& random, std::uint64_t most) {
  // 31622400000000 is 366 days; also the limits, a prime rate and powers of two and ten.
  constexpr std::array<std::uint64_t, 12> kEdges{0,
                                                 1,
                                                 127,
                                                 128,
                                                 129,
                                                 999'999'937,
                                                 1'000'000'000,
                                                 31'622'400'000'000,
                                                 31'622'399'999'000,
                                                 (std::uint64_t{1} << 32U) - 1,
                                                 (std::uint64_t{1} << 45U) - 1,
                                                 (std::uint64_t{1} << 53U) - 1};
  const std::uint64_t number = random.percent(30) ? random.pick(kEdges) : random.magnitude(most);
  return std::min(number, most);
}

Sum draw_sum(Random& random) {
  while (true) {
    Sum sum{.a = draw(random, kExact - 1),
            .b = draw(random, kExact - 1),
            .c = std::max<std::uint64_t>(1, draw(random, kDivisor - 1))};
    if (sum.is_allowed()) return sum;
  }
}

TEST(Wide, MultipliesAndDividesExactly) {
  const servers::RedisServer server;
  servers::Session session = server.session();
  const std::string script =
      servers::read_file(std::string(PENSTOCK_SOURCE_DIR) + "/src/redis_store/lua/wide.lua") +
      "local said = {}\n"
      "for i = 1, #ARGV, 3 do\n"
      "  local quotient, rest =\n"
      "    multiply_divide(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]))\n"
      "  said[#said + 1] = string.format('%.0f %.0f', quotient, rest)\n"
      "end\n"
      "return said\n";
  Random random(seed());
  constexpr std::size_t kPerCall = 500;
  int wide = 0;
  for (std::size_t call = 0; call < scaled(400); ++call) {
    std::vector<Sum> sums;
    std::vector<std::string> words{"EVAL", script, "0"};
    for (std::size_t i = 0; i < kPerCall; ++i) {
      const Sum sum = draw_sum(random);
      words.insert(words.end(),
                   {std::to_string(sum.a), std::to_string(sum.b), std::to_string(sum.c)});
      if (sum.product() >= kExact) ++wide;
      sums.push_back(sum);
    }
    const servers::Reply said = session.must(words);
    for (std::size_t i = 0; i < kPerCall; ++i) {
      ASSERT_EQ(said.elements.at(i).text, sums[i].expected())
          << sums[i].a << " * " << sums[i].b << " / " << sums[i].c << ", PENSTOCK_SEED=" << seed();
    }
  }
  EXPECT_GT(wide, 10'000);
}

}  // namespace
}  // namespace penstock::differential
