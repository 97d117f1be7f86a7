#pragma once

#include "base/text_hash.hpp"
#include "http/client_address.hpp"
#include "replay/format/log_record.hpp"
#include "rules/model/request.hpp"
#include "rules/settings/gateway_settings.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::replay {

// The attributes of a logged request, as the gateway derives them: the method in upper case, the
// path normalized, the query, the host in lower case without its port, the client address in
// canonical form and behind trusted proxies, and header.<name>. What the log lacks is absent.
//
// Thread-safety: none.
class LogAttributes {
 public:
  struct Settings {
    rules::PathSettings paths{};
    http::TrustedProxies trusted{};
    // Others are left out, because no rule uses them; empty: all are kept.
    std::optional<std::vector<std::string>> wanted{};
  };
  explicit LogAttributes(Settings settings);

  // Empty when the gateway would answer 400, without a decision. The attributes are valid until the
  // next call, or the next line.
  [[nodiscard]] std::optional<std::vector<rules::Attribute>*> derive(const LogRecord& record);

  // Those of `wanted` that no request had so far.
  [[nodiscard]] std::vector<std::string> never_seen() const;

 private:
  enum class KnownName : std::uint8_t { Method, Path, Query, Host, Proto, ClientIp };
  // An attribute of every request, which is not looked up by its name.
  struct Known {
    std::string_view name;
    bool is_wanted = true;
    bool is_seen = false;
  };
  struct Target {
    std::string_view path;
    std::string_view query;
    std::string_view host;
    std::string_view scheme;
  };
  [[nodiscard]] static std::optional<Target> split(const LogRecord& record);
  [[nodiscard]] bool add_path(std::string_view path);
  void add_host(std::string_view host);
  void add_client(const LogRecord& record);
  void add_other(const rules::Attribute& other);
  void add(KnownName name, std::string_view value);
  [[nodiscard]] bool wants(KnownName name) const {
    return known_[static_cast<std::size_t>(name)].is_wanted;
  }

  Settings settings_;
  std::array<Known, 6> known_{
      {{"method"}, {"path"}, {"query"}, {"host"}, {"proto"}, {"client_ip"}}};
  base::TextMap<bool> others_;  // the other wanted ones, and whether a request had them
  std::vector<rules::Attribute> attributes_;
  std::string method_;
  std::string path_;
  std::string host_;
  std::string client_;
};

}  // namespace penstock::replay
