#pragma once

#include "penstock/check.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace penstock::rules {

struct Rule;

// Limits on the size of a request, for all listeners.
inline constexpr std::size_t kMaxDescriptors = 100;
inline constexpr std::size_t kMaxEntries = 100;  // of one descriptor

// An attribute of a request: "method" is "GET". The texts are owned by the caller.
struct Attribute {
  std::string_view name;
  std::string_view value;
};

// A set of attributes. A request by attributes has one descriptor; Envoy's requests may have
// several, each matched on its own.
struct Descriptor {
  std::vector<Attribute> entries;
  std::optional<Cost> cost{};    // replaces the request's
  std::optional<Quota> limit{};  // sent with the request; replaces the rules
  bool is_refund = false;        // the cost is refunded, not charged
};

struct Request {
  std::string_view domain;
  std::vector<Descriptor> descriptors;
  Cost cost{};
  // Rules that are in shadow mode now, whatever they say: `if_missing: deny` has no effect.
  std::vector<const Rule*> in_shadow{};

  [[nodiscard]] Cost cost_of(const Descriptor& descriptor) const {
    return descriptor.cost.value_or(cost);
  }
};

}  // namespace penstock::rules
