#include "redis/url.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace penstock::redis {
namespace {

struct Scheme {
  std::string_view name;
  Topology topology;
  Transport transport;
};

constexpr std::uint16_t kRedisPort = 6379;
constexpr std::uint16_t kSentinelPort = 26'379;

constexpr std::array kSchemes{
    Scheme{"redis", Topology::Standalone, Transport::Plain},
    Scheme{"rediss", Topology::Standalone, Transport::Tls},
    Scheme{"redis+unix", Topology::UnixSocket, Transport::Plain},
    Scheme{"redis-sentinel", Topology::Sentinel, Transport::Plain},
    Scheme{"rediss-sentinel", Topology::Sentinel, Transport::Tls},
    Scheme{"redis-cluster", Topology::Cluster, Transport::Plain},
    Scheme{"rediss-cluster", Topology::Cluster, Transport::Tls},
};

Error invalid(const std::string& what) { return {ErrorCode::InvalidInput, "Redis URL: " + what}; }

Result<HostPort> read_host(std::string_view text, std::uint16_t default_port) {
  HostPort host{.host = {}, .port = default_port};
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return invalid("\"" + std::string(text) + "\" lacks a closing bracket");
    }
    host.host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) {
      return invalid("\"" + std::string(text) +
                     "\" has something other than a port behind the bracket");
    }
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    host.host = text.substr(0, colon);
    port = text.substr(colon);
    if (port.find(':', 1) != std::string_view::npos) {
      return invalid("\"" + std::string(text) +
                     "\" has more than one colon; IPv6 addresses need brackets");
    }
  }
  if (host.host.empty()) return invalid("\"" + std::string(text) + "\" names no host");
  if (port.empty()) return host;
  const auto number = base::parse_number<std::uint16_t>(port.substr(1));
  if (!number || *number == 0) {
    return invalid("port \"" + std::string(port.substr(1)) + "\" of \"" + host.host +
                   "\" is not between 1 and 65535");
  }
  host.port = *number;
  return host;
}

Result<std::uint32_t> read_database(std::string_view text) {
  if (text.empty()) return 0U;
  const auto number = base::parse_number<std::uint32_t>(text);
  if (!number) return invalid("database \"" + std::string(text) + "\" is not a number");
  return *number;
}

Result<void> read_login(std::string_view login, Url& url) {
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) {
    return invalid(
        R"(the part before "@" is not "user:password"; for a password alone write ":password@")");
  }
  const auto user = base::percent_decoded(login.substr(0, colon));
  const auto password = base::percent_decoded(login.substr(colon + 1));
  if (!user || !password) {
    return invalid("user or password has a \"%\" that is not followed by two hexadecimal digits");
  }
  url.user = *user;
  url.password = *password;
  return {};
}

Result<void> read_hosts(std::string_view list, Url& url) {
  const std::uint16_t port = url.topology == Topology::Sentinel ? kSentinelPort : kRedisPort;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    Result<HostPort> host = read_host(list.substr(0, comma), port);
    if (!host) return host.error();
    url.hosts.push_back(*std::move(host));
    if (comma == list.size()) break;
    list.remove_prefix(comma + 1);
  }
  if (url.topology == Topology::Standalone && url.hosts.size() > 1) {
    return invalid("more than one host; use redis-sentinel:// or redis-cluster://");
  }
  return {};
}

// The part after the hosts: "/database", "/name/database" for Sentinel, empty for a cluster.
Result<void> read_path(std::string_view path, Url& url) {
  if (url.topology == Topology::Sentinel) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    url.master_name = path.substr(0, slash);
    if (url.master_name.empty()) {
      return invalid("redis-sentinel:// needs the name of the master: host,host/name");
    }
    path = slash < path.size() ? path.substr(slash + 1) : std::string_view{};
  }
  if (url.topology == Topology::Cluster && !path.empty() && path != "0") {
    return invalid("a cluster has only database 0, not \"" + std::string(path) + "\"");
  }
  const Result<std::uint32_t> database = read_database(path);
  if (!database) return database.error();
  url.database = *database;
  return {};
}

Result<void> read_socket(std::string_view rest, Url& url) {
  constexpr std::string_view kDatabase = "?db=";
  const std::size_t query = std::min(rest.find('?'), rest.size());
  url.socket_path = rest.substr(0, query);
  if (!url.socket_path.starts_with('/')) return invalid("redis+unix:// needs an absolute path");
  const std::string_view parameters = rest.substr(query);
  if (parameters.empty()) return {};
  if (!parameters.starts_with(kDatabase)) {
    return invalid("unknown parameter \"" + std::string(parameters) + "\"; only ?db= is known");
  }
  const Result<std::uint32_t> database = read_database(parameters.substr(kDatabase.size()));
  if (!database) return database.error();
  url.database = *database;
  return {};
}

const Scheme& scheme_of(const Url& url) {
  return *std::find_if(kSchemes.begin(), kSchemes.end(), [&](const Scheme& scheme) {
    return scheme.topology == url.topology && scheme.transport == url.transport;
  });
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  const std::size_t end = text.find("://");
  const std::string_view name = text.substr(0, std::min(end, text.size()));
  const auto* const scheme = std::find_if(kSchemes.begin(), kSchemes.end(),
                                          [&](const Scheme& known) { return known.name == name; });
  if (end == std::string_view::npos || scheme == kSchemes.end()) {
    return invalid(
        "must begin with redis://, rediss://, redis+unix://, redis-sentinel:// or "
        "redis-cluster://");
  }
  Url url{.topology = scheme->topology, .transport = scheme->transport};
  std::string_view rest = text.substr(end + 3);
  const std::size_t at = rest.rfind('@');
  if (at != std::string_view::npos) {
    const Result<void> login = read_login(rest.substr(0, at), url);
    if (!login) return login.error();
    rest.remove_prefix(at + 1);
  }
  if (url.topology == Topology::UnixSocket) {
    const Result<void> socket = read_socket(rest, url);
    if (!socket) return socket.error();
    return url;
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const Result<void> hosts = read_hosts(rest.substr(0, slash), url);
  if (!hosts) return hosts.error();
  const Result<void> path =
      read_path(slash < rest.size() ? rest.substr(slash + 1) : std::string_view{}, url);
  if (!path) return path.error();
  return url;
}

std::string to_string(const Url& url) {
  std::string text = std::string(scheme_of(url).name) + "://";
  if (!url.user.empty()) text += url.user;
  if (!url.password.empty()) text += ":***";
  if (!url.user.empty() || !url.password.empty()) text += "@";
  if (url.topology == Topology::UnixSocket) text += url.socket_path;
  for (std::size_t i = 0; i < url.hosts.size(); ++i) {
    text += (i > 0 ? "," : "") + to_string(url.hosts[i]);
  }
  if (url.topology == Topology::Sentinel) text += "/" + url.master_name;
  if (url.database != 0) {
    text += (url.topology == Topology::UnixSocket ? "?db=" : "/") + std::to_string(url.database);
  }
  return text;
}

std::string to_string(const HostPort& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string to_string(const Endpoint& endpoint) {
  return endpoint.socket_path.empty() ? to_string(endpoint.address) : endpoint.socket_path;
}

}  // namespace penstock::redis
