#include "wire/http/refusal.hpp"

#include "wire/http/problem.hpp"

namespace penstock::wire::http {

Response to_response(const Refusal& refusal) {
  return problem_response({.status = refusal.status, .detail = refusal.detail});
}

}  // namespace penstock::wire::http
