#pragma once

namespace penstock::base {

// Products of two quota values: up to 10^9 tokens times 366 days in microseconds is 75 bits.
__extension__ using Wide = unsigned __int128;

}  // namespace penstock::base
