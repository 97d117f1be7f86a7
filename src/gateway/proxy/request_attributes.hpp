#pragma once

#include "gateway/proxy/forwarded_request.hpp"
#include "rules/model/request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace penstock::gateway {

// "API.example.com.:8443" as "api.example.com": one host has one name.
[[nodiscard]] std::string host_name(std::string_view host);

// Who asks, besides what is in the request itself.
struct Client {
  std::string_view address;  // as trusted proxies tell it, or the peer's
  std::string_view scheme;   // "http" or "https"
};

// A request as rules see it: method, path, query, host, proto, client_ip, and header.<name> for
// each field that is forwarded, the same as forward-auth has them.
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
  std::string names_;  // of header attributes, one after the other
  std::vector<rules::Attribute> attributes_;
};

}  // namespace penstock::gateway
