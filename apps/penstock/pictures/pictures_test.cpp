#include "apps/penstock/pictures/pictures.hpp"

#include "apps/penstock/pictures/algorithm_run.hpp"
#include "apps/penstock/pictures/lease_run.hpp"
#include "apps/penstock/pictures/outage_run.hpp"
#include "apps/penstock/pictures/svg.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::app {
namespace {

using namespace std::chrono_literals;

TEST(Svg, EscapesTexts) {
  Svg svg(10, 10, "a < b", "c & d");
  svg.text(1, 2, "\"e\" > f");
  const std::string text = svg.finish();
  for (const char* wanted :
       {"<title id=\"title\">a &lt; b</title>", "c &amp; d", "&quot;e&quot; &gt; f"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted;
  }
}

TEST(AlgorithmRunInVirtualTime, DecidesAsTheAlgorithm) {
  const auto run = [](Algorithm algorithm) {
    return run_algorithm(pictured_quota(algorithm), boundary_arrivals(), kRunEnd);
  };
  EXPECT_EQ(run(Algorithm::FixedWindow).peak.passed, 20U);
  EXPECT_EQ(run(Algorithm::SlidingLog).peak.passed, 10U);
  EXPECT_EQ(run(Algorithm::SubWindows).peak.passed, 10U);
  EXPECT_EQ(run(Algorithm::Gcra).admitted, run(Algorithm::TokenBucket).admitted);
}

TEST(AlgorithmRunInVirtualTime, AnchoredWindowsBeginWithARequest) {
  const AlgorithmRun run =
      run_algorithm(pictured_quota(Algorithm::AnchoredWindow), burst_arrivals(), kRunEnd);
  ASSERT_EQ(run.windows.size(), 2U);
  EXPECT_EQ(run.windows[0].begin, 2s);
  EXPECT_EQ(run.windows[0].end, 12s);
  EXPECT_EQ(run.windows[1].begin, 12500ms);
}

TEST(LeaseRunInVirtualTime, DecidesMostRequestsLocally) {
  for (const LeaseRun::Node& node : run_leases().nodes) {
    const auto local = std::count_if(
        node.requests.begin(), node.requests.end(),
        [](const LeaseRun::Request& each) { return each.decided == LeaseRun::Decided::Locally; });
    EXPECT_GT(local * 10, static_cast<std::ptrdiff_t>(node.requests.size()) * 8);
    EXPECT_LT(node.calls.size() * 4, node.requests.size());
  }
}

TEST(OutageRunInVirtualTime, AdmitsNoMoreThanTheLimit) {
  const OutageRun run = run_outage();
  EXPECT_LE(run.admitted, 60U);
  EXPECT_GE(run.admitted, 58U);
  ASSERT_FALSE(run.reports.empty());
  EXPECT_GE(run.reports.front().at, kOutageEnd);
}

TEST(Pictures, AreTheSameEachTime) {
  const std::vector<Picture> first = draw_all();
  const std::vector<Picture> second = draw_all();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].text, second[i].text);
}

}  // namespace
}  // namespace penstock::app
