#pragma once

#include "rules/settings/settings.hpp"

#include <string>

namespace penstock::daemon {

// The settings that differ and that a running daemon cannot change, for people; empty when there
// are none.
[[nodiscard]] std::string needs_restart(const rules::Settings& old, const rules::Settings& now);

// Puts into the settings in force what a running daemon can change: tokens, passwords, certificates
// and the times of a shutdown.
void apply_reloadable(rules::Settings& in_force, const rules::Settings& now);

}  // namespace penstock::daemon
