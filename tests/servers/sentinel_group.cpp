#include "servers/sentinel_group.hpp"

#include "servers/wait.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace penstock::servers {
namespace {

// A sentinel that was not scheduled for two seconds does nothing for thirty (TILT mode). With the
// role of a server a sentinel changes, it closes the connections of that server's clients.
void wait_for_sentinels(const std::string& what, const std::function<bool()>& holds) {
  const auto holds_now = [&] {
    try {
      return holds();
    } catch (const ConnectionClosed&) {
      return false;
    }
  };
  wait_until(what, holds_now, std::chrono::seconds{120});
}

constexpr std::size_t kSentinels = 3;
constexpr std::size_t kQuorum = 2;
const std::string kName = "mymaster";

// The reply of SENTINEL MASTER alternates names and values.
std::string value_of(const Reply& pairs, std::string_view name) {
  for (std::size_t i = 0; i + 1 < pairs.elements.size(); i += 2) {
    if (pairs.elements[i].text == name) {
      return pairs.elements[i + 1].text;
    }
  }
  return {};
}

std::vector<std::string> sentinel_config(const SentinelGroupOptions& options,
                                         std::uint16_t master_port) {
  std::vector<std::string> lines{
      "sentinel monitor " + kName + " 127.0.0.1 " + std::to_string(master_port) + " " +
          std::to_string(kQuorum),
      "sentinel down-after-milliseconds " + kName + " " +
          std::to_string(options.down_after.count()),
      // A vote without a winner is repeated after twice this time.
      "sentinel failover-timeout " + kName + " 3000",
  };
  if (!options.password.empty()) {
    lines.push_back("sentinel auth-pass " + kName + " " + options.password);
  }
  if (!options.sentinel_password.empty()) {
    lines.push_back("sentinel sentinel-pass " + options.sentinel_password);
  }
  return lines;
}

// How often a sentinel announces itself and checks the servers: 2 s and 10 s by default. Servers
// without the command ignore it, which is only slower.
//
// Once the master is down, a sentinel checks the replicas every second regardless, and promotes
// none that it has not checked within five ping periods: these must be longer than that.
void set_periods(const RedisServer& sentinel, std::chrono::milliseconds publish) {
  static_cast<void>(
      sentinel.command({"SENTINEL", "DEBUG", "PUBLISH-PERIOD", std::to_string(publish.count()),
                        "INFO-PERIOD", "200", "PING-PERIOD", "400", "ASK-PERIOD", "100"}));
}

bool follows(const RedisServer& replica, std::uint16_t master_port) {
  const std::string info = replica.must({"INFO", "replication"}).text;
  return field_of(info, "role") == "slave" && field_of(info, "master_link_status") == "up" &&
         field_of(info, "master_port") == std::to_string(master_port);
}

}  // namespace

SentinelGroup::SentinelGroup(const SentinelGroupOptions& options) {
  RedisServerOptions server{
      .program = options.program, .password = options.password, .config = options.config};
  servers_.push_back(std::make_unique<RedisServer>(server));
  const std::uint16_t master_port = servers_.front()->port();
  server.config.push_back("replicaof 127.0.0.1 " + std::to_string(master_port));
  for (std::size_t i = 0; i < options.replicas; ++i) {
    servers_.push_back(std::make_unique<RedisServer>(server));
  }
  start_sentinels(options);
  wait_until_healthy();
  wait_until_known(options.replicas);
  // A server that is wrongly a master is demoted after four of these periods. That must not hit the
  // promoted one, which the leading sentinel sees within a second.
  for (const auto& sentinel : sentinels_) {
    set_periods(*sentinel, std::chrono::milliseconds{1000});
  }
}

void SentinelGroup::start_sentinels(const SentinelGroupOptions& options) {
  for (std::size_t i = 0; i < kSentinels; ++i) {
    sentinels_.push_back(std::make_unique<RedisServer>(
        RedisServerOptions{.program = options.program,
                           .password = options.sentinel_password,
                           .role = Role::Sentinel,
                           .config = sentinel_config(options, servers_.front()->port())}));
    set_periods(*sentinels_.back(), std::chrono::milliseconds{100});
  }
}

void SentinelGroup::wait_until_known(std::size_t replicas) {
  wait_for_sentinels("the sentinels to know each other", [&] {
    return std::ranges::all_of(sentinels_, [&](const auto& sentinel) {
      const Reply master = sentinel->must({"SENTINEL", "MASTER", kName});
      return value_of(master, "num-other-sentinels") == std::to_string(kSentinels - 1) &&
             value_of(master, "num-slaves") == std::to_string(replicas) &&
             value_of(master, "flags") == "master" &&
             sentinel->command({"SENTINEL", "CKQUORUM", kName}).text.starts_with("OK 3 ");
    });
  });
}

std::string SentinelGroup::url() const {
  const std::string& password = servers_.front()->password();
  std::string text = "redis-sentinel://" + (password.empty() ? "" : ":" + password + "@");
  for (const auto& sentinel : sentinels_) {
    text += (sentinel == sentinels_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
            std::to_string(sentinel->port());
  }
  return text + "/" + kName;
}

std::vector<std::uint16_t> SentinelGroup::named_ports() const {
  std::vector<std::uint16_t> ports;
  for (const auto& sentinel : sentinels_) {
    if (sentinel->is_running()) {
      const Reply address = sentinel->must({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", kName});
      ports.push_back(static_cast<std::uint16_t>(std::stoul(address.elements.at(1).text)));
    }
  }
  return ports;
}

std::uint16_t SentinelGroup::current_master_port() const {
  std::map<std::uint16_t, std::size_t> votes;
  for (const std::uint16_t port : named_ports()) {
    if (++votes[port] >= kQuorum) {
      return port;
    }
  }
  return 0;
}

RedisServer* SentinelGroup::server_at(std::uint16_t port) {
  const auto found = std::ranges::find(servers_, port, &RedisServer::port);
  return found == servers_.end() ? nullptr : found->get();
}

RedisServer& SentinelGroup::master() {
  RedisServer* found = nullptr;
  wait_for_sentinels("the sentinels to agree on a master", [&] {
    found = server_at(current_master_port());
    return found != nullptr;
  });
  return *found;
}

std::vector<RedisServer*> SentinelGroup::replicas() {
  const RedisServer& current = master();
  std::vector<RedisServer*> found;
  for (const auto& server : servers_) {
    if (server.get() != &current) {
      found.push_back(server.get());
    }
  }
  return found;
}

RedisServer& SentinelGroup::kill_master() {
  RedisServer& victim = master();
  victim.kill();
  return victim;
}

void SentinelGroup::fail_over() {
  const std::uint16_t old = master().port();
  // Rejected while another failover is in progress or no replica is known to be good.
  wait_for_sentinels("a sentinel to start a failover", [this] {
    const auto running = std::ranges::find_if(sentinels_, &RedisServer::is_running);
    return running != sentinels_.end() &&
           !(*running)->command({"SENTINEL", "FAILOVER", kName}).is_error();
  });
  wait_for_master_other_than(old);
}

void SentinelGroup::wait_for_master_other_than(std::uint16_t port) {
  wait_for_sentinels("another master than the one on port " + std::to_string(port), [&] {
    const std::vector<std::uint16_t> ports = named_ports();
    if (ports.empty() || ports.front() == port ||
        std::ranges::count(ports, ports.front()) != std::ssize(ports)) {
      return false;
    }
    const RedisServer* server = server_at(ports.front());
    return server != nullptr && server->is_running() && server->info("role") == "master";
  });
}

void SentinelGroup::wait_until_healthy() {
  wait_for_sentinels("all replicas to follow the master", [this] {
    const std::uint16_t port = current_master_port();
    return std::ranges::all_of(servers_, [&](const auto& server) {
      return server->is_running() &&
             (server->port() == port ? server->info("role") == "master" : follows(*server, port));
    });
  });
}

}  // namespace penstock::servers
