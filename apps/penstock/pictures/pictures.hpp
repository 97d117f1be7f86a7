#pragma once

#include "penstock/quota.hpp"
#include "penstock/result.hpp"

#include <string>
#include <vector>

// The pictures of the documents, computed by the algorithms that they show, in virtual time. The
// same program draws the same bytes: tests compare them with docs/images.
namespace penstock::app {

struct Picture {
  std::string file;  // "leases.svg"
  std::string text;
};

[[nodiscard]] Picture draw_algorithm(Algorithm algorithm);  // a burst, and a window boundary
[[nodiscard]] Picture draw_comparison();                    // all algorithms at a window boundary
[[nodiscard]] Picture draw_leases();
[[nodiscard]] Picture draw_outage();
[[nodiscard]] Picture draw_architecture();

[[nodiscard]] std::vector<Picture> draw_all();

}  // namespace penstock::app
