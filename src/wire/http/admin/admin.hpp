#pragma once

#include "http/message.hpp"
#include "wire/http/admin/admin_data.hpp"
#include "wire/http/admin/json_cache.hpp"

namespace penstock::http {

// The calls of the admin port: the operator's page and the JSON that it shows, metrics, health, and
// calls of the HTTP API for operators, which a worker answers.
//
// /metrics, /healthz, /readyz and the page itself need no token. Everything else does, unless the
// port is bound to loopback (authorization.hpp).
//
// Thread-safety: none.
class Admin final : public Handler {
 public:
  // REQUIRES: the source outlives it.
  explicit Admin(AdminDataSource& source) : source_(source) {}

  void handle(const Request& request, Respond respond) override;

 private:
  AdminDataSource& source_;
  JsonCache cache_;
};

}  // namespace penstock::http
