#include "http/refusal.hpp"

#include "http/problem.hpp"

namespace penstock::http {

Response to_response(const Refusal& refusal) {
  return problem_response({.status = refusal.status, .detail = refusal.detail});
}

}  // namespace penstock::http
