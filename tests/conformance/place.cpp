#include "conformance/place.hpp"

#include "servers/cluster.hpp"
#include "servers/sentinel_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace penstock::conformance {
namespace {

using servers::RedisServer;

// A loaded machine is no failure.
RedisOptions patient(std::string url, const std::string& prefix) {
  RedisOptions options;
  options.url = std::move(url);
  options.timeout = std::chrono::seconds{5};
  options.connect_timeout = std::chrono::seconds{5};
  options.key_prefix = prefix;
  return options;
}

class Memory final : public Place {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& /*prefix*/) override {
    return embedded_limiter();
  }
};

class Standalone final : public Place {
 public:
  explicit Standalone(const std::string& program) : server_({.program = program}) {}

  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(patient(server_.url(), prefix));
  }
  std::vector<const RedisServer*> servers() override { return {&server_}; }

 private:
  RedisServer server_;
};

class UnixSocket final : public Place {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(patient(server_.unix_url(), prefix));
  }
  std::vector<const RedisServer*> servers() override { return {&server_}; }

 private:
  RedisServer server_{{.password = "secret"}};
};

class Sentinel final : public Place {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(patient(group_.url(), prefix));
  }
  std::vector<const RedisServer*> servers() override { return {&group_.master()}; }

 private:
  // nothing fails here: a machine that is busy for a while must not start a failover
  servers::SentinelGroup group_{{.down_after = std::chrono::seconds{20}}};
};

class Cluster final : public Place {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(patient(cluster_.url(), prefix));
  }
  std::vector<const RedisServer*> servers() override {
    std::vector<const RedisServer*> masters;
    for (std::size_t i = 0; i < servers::Cluster::kMasters; ++i) {
      masters.push_back(&cluster_.node(i));
    }
    return masters;
  }

 private:
  servers::Cluster cluster_{{.node_timeout = std::chrono::seconds{20}}};
};

class Missing final : public Place {
 public:
  explicit Missing(std::string what) : what_(std::move(what)) {}

  std::string missing() const override { return what_; }
  std::unique_ptr<AnyLimiter> limiter(const std::string& /*prefix*/) override { return nullptr; }

 private:
  std::string what_;
};

std::unique_ptr<Place> start(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::Memory: return std::make_unique<Memory>();
    case PlaceKind::Standalone: return std::make_unique<Standalone>("redis-server");
    case PlaceKind::UnixSocket: return std::make_unique<UnixSocket>();
    case PlaceKind::Sentinel: return std::make_unique<Sentinel>();
    case PlaceKind::Cluster: return std::make_unique<Cluster>();
    case PlaceKind::Valkey: break;
  }
  if (!servers::find_program("valkey-server")) {
    return std::make_unique<Missing>("valkey-server is not installed");
  }
  return std::make_unique<Standalone>("valkey-server");
}

// Ends the servers before main() returns, while all they need is still there.
class Places final : public ::testing::Environment {
 public:
  void TearDown() override { places_.clear(); }

  Place& of(PlaceKind kind) {
    std::unique_ptr<Place>& place = places_[kind];
    if (place == nullptr) place = start(kind);
    return *place;
  }

 private:
  std::map<PlaceKind, std::unique_ptr<Place>> places_;
};

// GoogleTest owns it.
auto* const kPlaces =
    static_cast<Places*>(::testing::AddGlobalTestEnvironment(std::make_unique<Places>().release()));

}  // namespace

std::string to_string(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::Memory: return "memory";
    case PlaceKind::Standalone: return "standalone";
    case PlaceKind::UnixSocket: return "unix_socket";
    case PlaceKind::Sentinel: return "sentinel";
    case PlaceKind::Cluster: return "cluster";
    case PlaceKind::Valkey: break;
  }
  return "valkey";
}

Place& place_of(PlaceKind kind) { return kPlaces->of(kind); }

}  // namespace penstock::conformance
