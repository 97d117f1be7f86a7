#include "apps/penstock/pictures/pictures.hpp"

namespace penstock::app {

std::vector<Picture> draw_all() {
  std::vector<Picture> pictures;
  for (const Algorithm algorithm :
       {Algorithm::TokenBucket, Algorithm::Gcra, Algorithm::FixedWindow, Algorithm::AnchoredWindow,
        Algorithm::SlidingCounter, Algorithm::SlidingLog, Algorithm::SubWindows}) {
    pictures.push_back(draw_algorithm(algorithm));
  }
  pictures.push_back(draw_comparison());
  pictures.push_back(draw_leases());
  pictures.push_back(draw_outage());
  pictures.push_back(draw_architecture());
  return pictures;
}

}  // namespace penstock::app
