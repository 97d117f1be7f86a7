#include "base/emplace_with.hpp"

#include <gtest/gtest.h>

#include <list>

namespace penstock::base {
namespace {

struct Settled {
  explicit Settled(int given) : number(given) {}
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
  ~Settled() = default;

  int number;
};

TEST(EmplaceWith, MakesWhatCanNeitherBeCopiedNorMoved) {
  std::list<Settled> list;
  list.emplace_back(EmplaceWith([] { return Settled(3); }));
  EXPECT_EQ(list.front().number, 3);
}

}  // namespace
}  // namespace penstock::base
