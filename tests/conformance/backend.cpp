#include "conformance/backend.hpp"

#include "servers/cluster.hpp"
#include "servers/sentinel_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace penstock::conformance {
namespace {

using servers::RedisServer;

// Tolerates a loaded machine.
RedisOptions long_timeout_options(std::string url, const std::string& prefix) {
  RedisOptions options;
  options.url = std::move(url);
  options.timeout = std::chrono::seconds{5};
  options.connect_timeout = std::chrono::seconds{5};
  options.key_prefix = prefix;
  return options;
}

class Memory final : public Backend {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& /*prefix*/) override {
    return embedded_limiter();
  }
};

class Standalone final : public Backend {
 public:
  explicit Standalone(const std::string& program) : server_({.program = program}) {}

  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(long_timeout_options(server_.url(), prefix));
  }
  std::vector<const RedisServer*> servers() override { return {&server_}; }

 private:
  RedisServer server_;
};

class UnixSocket final : public Backend {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(long_timeout_options(server_.unix_url(), prefix));
  }
  std::vector<const RedisServer*> servers() override { return {&server_}; }

 private:
  RedisServer server_{{.password = "secret"}};
};

class Sentinel final : public Backend {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(long_timeout_options(group_.url(), prefix));
  }
  std::vector<const RedisServer*> servers() override { return {&group_.master()}; }

 private:
  // Nothing fails here: a busy machine must not cause a failover.
  servers::SentinelGroup group_{{.down_after = std::chrono::seconds{20}}};
};

class Cluster final : public Backend {
 public:
  std::unique_ptr<AnyLimiter> limiter(const std::string& prefix) override {
    return shared_limiter(long_timeout_options(cluster_.url(), prefix));
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

class Missing final : public Backend {
 public:
  explicit Missing(std::string what) : what_(std::move(what)) {}

  std::string missing() const override { return what_; }
  std::unique_ptr<AnyLimiter> limiter(const std::string& /*prefix*/) override { return nullptr; }

 private:
  std::string what_;
};

std::unique_ptr<Backend> start(BackendKind kind) {
  switch (kind) {
    case BackendKind::Memory: return std::make_unique<Memory>();
    case BackendKind::Standalone: return std::make_unique<Standalone>("redis-server");
    case BackendKind::UnixSocket: return std::make_unique<UnixSocket>();
    case BackendKind::Sentinel: return std::make_unique<Sentinel>();
    case BackendKind::Cluster: return std::make_unique<Cluster>();
    case BackendKind::Valkey: break;
  }
  if (!servers::find_program("valkey-server")) {
    return std::make_unique<Missing>("valkey-server is not installed");
  }
  return std::make_unique<Standalone>("valkey-server");
}

// Stops the servers before main() returns, while their dependencies still exist.
class Backends final : public ::testing::Environment {
 public:
  void TearDown() override { places_.clear(); }

  Backend& of(BackendKind kind) {
    std::unique_ptr<Backend>& backend = places_[kind];
    if (backend == nullptr) backend = start(kind);
    return *backend;
  }

 private:
  std::map<BackendKind, std::unique_ptr<Backend>> places_;
};

// GoogleTest owns it.
auto* const kBackends = static_cast<Backends*>(
    ::testing::AddGlobalTestEnvironment(std::make_unique<Backends>().release()));

}  // namespace

std::string to_string(BackendKind kind) {
  switch (kind) {
    case BackendKind::Memory: return "memory";
    case BackendKind::Standalone: return "standalone";
    case BackendKind::UnixSocket: return "unix_socket";
    case BackendKind::Sentinel: return "sentinel";
    case BackendKind::Cluster: return "cluster";
    case BackendKind::Valkey: break;
  }
  return "valkey";
}

Backend& backend_of(BackendKind kind) { return kBackends->of(kind); }

}  // namespace penstock::conformance
