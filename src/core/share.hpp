#pragma once

#include "penstock/quota.hpp"

namespace penstock::core {
[[nodiscard]] Quota share_of(const Quota& quota, unsigned nodes);
}
