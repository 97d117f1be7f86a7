#include "http2/flood_budget.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::http2 {
namespace {

std::string frame(std::size_t length, unsigned type, unsigned flags) {
  std::string out;
  for (const unsigned shift : {16U, 8U, 0U}) out += static_cast<char>(length >> shift & 0xFFU);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out.append(4, '\1');
  out.append(length, 'x');
  return out;
}

RC_GTEST_PROP(FrameScanner, FindsEveryFrameInAnyPortions, ()) {
  using Wanted = std::vector<std::pair<std::size_t, unsigned>>;
  const Wanted wanted = *rc::gen::container<Wanted>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, 300), rc::gen::inRange(0U, 256U)));
  std::string bytes(kPrefaceBytes, 'P');
  for (const auto& [length, type] : wanted) bytes += frame(length, type, 5);
  const auto portion = *rc::gen::inRange<std::size_t>(1, 40);
  FrameScanner scanner;
  Wanted found;
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    scanner.scan(std::string_view(bytes).substr(at, portion), [&](const FrameHead& head) {
      RC_ASSERT(head.flags == 5U);
      found.emplace_back(head.length, head.type);
    });
  }
  RC_ASSERT(found == wanted);
}

}  // namespace
}  // namespace penstock::http2
