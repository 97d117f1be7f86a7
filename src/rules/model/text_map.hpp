#pragma once

#include "base/text_hash.hpp"

namespace penstock::rules {

using base::TextHash;
using base::TextMap;

}  // namespace penstock::rules
