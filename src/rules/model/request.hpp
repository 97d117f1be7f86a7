#pragma once

#include "penstock/check.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace penstock::rules {

// What one request may have, whichever listener it arrives at.
inline constexpr std::size_t kMaxDescriptors = 100;
inline constexpr std::size_t kMaxEntries = 100;  // of one descriptor

// A fact about a request: "method" is "GET". The texts belong to whoever made the request.
struct Attribute {
  std::string_view name;
  std::string_view value;
};

// Facts that are matched together. A request given by its attributes has one descriptor; those of
// Envoy may have several, each matched by itself.
struct Descriptor {
  std::vector<Attribute> entries;
  std::optional<Cost> cost{};    // in place of the request's
  std::optional<Quota> limit{};  // travels with the request, in place of what the rules say
  bool is_refund = false;        // the cost is returned, not taken
};

struct Request {
  std::string_view domain;
  std::vector<Descriptor> descriptors;
  Cost cost{};
};

}  // namespace penstock::rules
