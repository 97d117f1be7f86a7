#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace penstock::rules {

// The free-form `metadata` of a descriptor of envoyproxy/ratelimit: anything that JSON can say. It
// has no effect on decisions; gRPC answers return it to Envoy.
struct MetadataValue;
using MetadataList = std::vector<MetadataValue>;
using MetadataMap = std::vector<std::pair<std::string, MetadataValue>>;  // in declared order
struct MetadataValue {
  std::variant<std::monostate, bool, double, std::string, MetadataList, MetadataMap> value{};
};

}  // namespace penstock::rules
