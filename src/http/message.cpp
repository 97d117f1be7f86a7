#include "http/message.hpp"

#include "http/problem.hpp"

#include <algorithm>

namespace penstock::http {
namespace {

char lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view Request::field(std::string_view name) const noexcept {
  for (const Field& field : fields) {
    if (same_name(field.name, name)) return field.value;
  }
  return {};
}

Response to_response(const HttpError& error) {
  return problem_response({.status = error.status, .detail = error.detail});
}

}  // namespace penstock::http
