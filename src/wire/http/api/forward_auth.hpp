#pragma once

#include "http/client_address.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/model/request.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <deque>
#include <string>

namespace penstock::http {

// The request that a proxy checks, as attributes: method, path, query, host, proto, client_ip,
// and header.<name> for each of its fields that is not about the connection to us.
//
// Proxies use different fields for the same value, and pass on the fields of others, which a client
// may have forged. So fields that disagree are an error.
class ForwardedAttributes {
 public:
  [[nodiscard]] static Result<ForwardedAttributes> read(const Request& request,
                                                        const TrustedProxies& trusted,
                                                        const rules::PathSettings& paths);

  // REQUIRES: the ForwardedAttributes and the request outlive it.
  [[nodiscard]] rules::Descriptor descriptor() const;

 private:
  struct Entry {
    std::string name;
    std::string value;
  };
  void add(std::string name, std::string value);
  void add_headers(const Request& request, const std::vector<std::string>& named);

  std::deque<Entry> attributes_;
};

}  // namespace penstock::http
