#pragma once

#include "http/client_address.hpp"
#include "http/message.hpp"
#include "penstock/result.hpp"
#include "rules/model/request.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <deque>
#include <string>

namespace penstock::http {

// The request that a proxy asks about, as attributes: method, path, query, host, proto, client_ip,
// and header.<name> for each of its fields that is not about the connection to us.
//
// Proxies of different makes say the same in different fields and pass on those of the others,
// which a client may have invented. So two that disagree are an error, not a choice.
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
