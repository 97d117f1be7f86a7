#pragma once

#include "penstock/result.hpp"

#include <functional>

namespace penstock::store {

// Receives the answer of a store exactly once, on the event loop, possibly before the call returns,
// and at the latest shortly after the deadline. A failed call is an Error: stores report failures,
// the service decides what they mean.
template <class T>
using Answered = std::function<void(Result<T>)>;

}  // namespace penstock::store
