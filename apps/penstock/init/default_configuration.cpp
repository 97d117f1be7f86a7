#include "apps/penstock/init/default_configuration.hpp"

#include <string>
#include <system_error>

namespace penstock::app {

Result<std::filesystem::path> find_configuration(std::span<const char* const> candidates) {
  std::string names;
  for (const char* candidate : candidates) {
    std::error_code unreadable;
    if (std::filesystem::exists(candidate, unreadable)) return std::filesystem::path(candidate);
    names += (names.empty() ? "neither " : " nor ") + std::string(candidate);
  }
  return Error{ErrorCode::InvalidInput,
               "no configuration: " + names +
                   " exists; write one with `penstock init`, or name one with --config FILE"};
}

}  // namespace penstock::app
