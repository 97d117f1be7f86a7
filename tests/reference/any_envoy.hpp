#pragma once

// Random descriptor trees and requests.

#include "reference/naive_envoy.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace penstock::rules::naive {

// Few letters, so that names often collide.
inline std::vector<Written> any_level(int depth) {
  const std::vector<std::string> keys{"a", "b", "a_b", "a*"};
  const std::vector<std::string> values{"", "", "b", "c", "*", "b*", "*c", "b_c", "*b*c"};
  const auto any_bool = [] { return *rc::gen::arbitrary<bool>(); };
  std::vector<Written> level;
  const int size = *rc::gen::resize(100, rc::gen::inRange(0, 6));
  for (int i = 0; i < size; ++i) {
    Written written{.traits = {.key = *rc::gen::elementOf(keys),
                               .value = *rc::gen::elementOf(values),
                               .value_to_metric = any_bool(),
                               .detailed_metric = any_bool()}};
    written.traits.share_threshold = any_bool() && name_of(written).find('*') != std::string::npos;
    const bool taken = std::ranges::any_of(
        level, [&](const Written& other) { return name_of(other) == name_of(written); });
    if (taken) continue;
    if (any_bool()) {
      written.action =
          *rc::gen::weightedElement<Action>({{4, Action::Limit}, {1, Action::Unlimited}});
      if (written.action == Action::Limit && *rc::gen::inRange(0, 5) > 0) {
        written.requests_per_minute = *rc::gen::inRange<std::uint32_t>(1, 1'000'000);
      }
      written.shadow = any_bool();
      written.quota_mode = any_bool();
      written.given_name = *rc::gen::element<std::string>("", "one", "two");
      if (any_bool() && written.given_name != "two") written.replaces = {"two"};
    }
    if (depth > 1) written.children = any_level(depth - 1);
    level.push_back(std::move(written));
  }
  return level;
}

// A request that owns its texts.
struct AnyRequest {
  std::deque<std::string> texts{};
  Request request{.domain = "dom", .descriptors = {}};

  AnyRequest() = default;
  AnyRequest(const AnyRequest&) = delete;
  AnyRequest& operator=(const AnyRequest&) = delete;

  void fill() {
    const std::vector<std::string> keys{"a", "b", "a_b", "a*", "c"};
    const std::vector<std::string> values{"", "b", "c", "bc", "b_c", "xbyc", "b*", "*"};
    const int descriptors = *rc::gen::resize(100, rc::gen::inRange(1, 4));
    for (int d = 0; d < descriptors; ++d) {
      Descriptor& descriptor = request.descriptors.emplace_back();
      const int entries = *rc::gen::resize(100, rc::gen::inRange(0, 4));
      for (int i = 0; i < entries; ++i) {
        const std::string& key = texts.emplace_back(*rc::gen::elementOf(keys));
        const std::string& value = texts.emplace_back(*rc::gen::elementOf(values));
        descriptor.entries.push_back({.name = key, .value = value});
      }
    }
  }
};

}  // namespace penstock::rules::naive
