#include "penstock/limits.hpp"

#include <algorithm>

namespace penstock {

Result<Limits> Limits::make(std::vector<Limit> limits) {
  if (limits.empty()) {
    return Error{ErrorCode::InvalidInput, "a list of limits must have at least one"};
  }
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (limits[i].name.empty()) {
      return Error{ErrorCode::InvalidInput,
                   "limit number " + std::to_string(i + 1) + " has an empty name"};
    }
    const auto same =
        std::find_if(limits.begin(), limits.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const Limit& other) { return other.name == limits[i].name; });
    if (same != limits.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Error{ErrorCode::InvalidInput, "limit name \"" + limits[i].name + "\" is used twice"};
    }
  }
  return Limits(std::move(limits));
}

}  // namespace penstock
