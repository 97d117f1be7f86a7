#include "http/http_error.hpp"

#include "http/problem.hpp"

namespace penstock::http {

Response to_response(const HttpError& error) {
  return problem_response({.status = error.status, .detail = error.detail});
}

}  // namespace penstock::http
