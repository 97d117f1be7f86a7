#pragma once

#include "rules/model/configuration.hpp"

namespace penstock::daemon {

// Checks what `serve` needs except ports and Redis: certificates, keys, the access log file, store
// options, a password for a public RESP listener. One error per problem, with the position of its
// section. Used by `serve` and `validate`.
[[nodiscard]] rules::Diagnostics check_startup(const rules::Configuration& configuration);

}  // namespace penstock::daemon
