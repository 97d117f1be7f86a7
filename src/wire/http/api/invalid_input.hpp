#pragma once

#include "penstock/result.hpp"

#include <string>
#include <utility>

namespace penstock::http {

// The request is invalid; the text says why.
[[nodiscard]] inline Error invalid_input(std::string text) {
  return {ErrorCode::InvalidInput, std::move(text)};
}

}  // namespace penstock::http
