#pragma once

#include "rules/settings/settings.hpp"

#include <string>

namespace penstock::daemon {

// The names of changed settings that take effect after a restart, separated by commas.
[[nodiscard]] std::string needs_restart(const rules::Settings& old, const rules::Settings& now);

// The settings to use after a reload: `now`, without the settings that take a restart.
[[nodiscard]] rules::Settings with_reloadable(const rules::Settings& in_force,
                                              const rules::Settings& now);

}  // namespace penstock::daemon
