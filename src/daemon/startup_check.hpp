#pragma once

#include "rules/model/configuration.hpp"

namespace penstock::daemon {

// Everything that `serve` needs besides ports and Redis: certificates, keys, the file of the access
// log, options of the store, a password where others can connect. An error for each that cannot be
// used, with the place of the section that names it. `serve` and `validate` both ask this.
[[nodiscard]] rules::Diagnostics check_startup(const rules::Configuration& configuration);

}  // namespace penstock::daemon
