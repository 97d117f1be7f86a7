#include "redis/connection.hpp"
#include "redis/node.hpp"

#include <utility>

namespace penstock::redis {
namespace {

Result<TlsClient> tls_client(const Options& options) {
  if (options.url.transport == Transport::Plain) return TlsClient{};
  auto context = make_tls_context(options.tls);
  if (!context) return context.error();
  return TlsClient{.context = *std::move(context), .server_name = options.tls.server_name};
}

}  // namespace

std::shared_ptr<NodeSettings> node_settings(Options options, std::vector<const Script*> scripts) {
  const Url& url = options.url;
  auto settings = std::make_shared<NodeSettings>();
  settings->login = {.user = url.user,
                     .password = url.password,
                     .database = url.database,
                     .client_name = options.client_name};
  settings->role = url.topology == Topology::Cluster    ? RoleCheck::None
                   : url.topology == Topology::Sentinel ? RoleCheck::Strict
                                                        : RoleCheck::Lenient;
  settings->scripts = std::move(scripts);
  settings->tls = tls_client(options);
  settings->options = std::move(options);
  return settings;
}

Result<void> reload(NodeSettings& settings, Options options) {
  Result<TlsClient> tls = tls_client(options);
  if (!tls) return tls.error();
  settings.tls = std::move(tls);
  settings.login.user = options.url.user;
  settings.login.password = options.url.password;
  options.on_event = std::move(settings.options.on_event);
  settings.options = std::move(options);
  return {};
}

}  // namespace penstock::redis
