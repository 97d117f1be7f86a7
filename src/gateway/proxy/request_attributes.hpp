#pragma once

#include "gateway/proxy/forwarded_request.hpp"
#include "rules/model/request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// Canonical host name: "API.example.com.:8443" becomes "api.example.com".
[[nodiscard]] std::string host_name(std::string_view host);

// The client of a request, as far as the request itself does not tell.
struct Client {
  std::string_view address;  // client IP reported by trusted proxies, or the peer's
  std::string_view scheme;   // "http" or "https"
};

// The attributes that rules match: method, path, query, host, proto, client_ip, and header.<name>
// for each forwarded field, equal to those of forward-auth.
class RequestAttributes {
 public:
  // REQUIRES: request and client outlive it.
  RequestAttributes(const ForwardedRequest& request, Client client);
  RequestAttributes(const RequestAttributes&) = delete;
  RequestAttributes& operator=(const RequestAttributes&) = delete;

  [[nodiscard]] std::string_view host() const noexcept { return host_; }
  [[nodiscard]] std::string_view path() const noexcept { return path_; }
  // Empty when there is no such attribute.
  [[nodiscard]] std::string_view value(std::string_view name) const noexcept;
  [[nodiscard]] const std::vector<rules::Attribute>& attributes() const noexcept {
    return attributes_;
  }

 private:
  void add_header(const Field& field);

  std::string host_;
  std::string method_;
  std::string_view path_;
  std::string names_;  // names of header attributes, concatenated
  std::vector<rules::Attribute> attributes_;
};

}  // namespace penstock::gateway
