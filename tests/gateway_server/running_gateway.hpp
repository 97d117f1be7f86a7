#pragma once

#include "gateway/server.hpp"
#include "penstock/clock.hpp"
#include "penstock/result.hpp"
#include "rules/model/configuration.hpp"
#include "service/local_fallback.hpp"
#include "service/membership.hpp"
#include "service/recorder.hpp"
#include "service/service.hpp"
#include "store/memory_store.hpp"
#include "store/sharded_table.hpp"
#include "telemetry/hot_keys.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

namespace penstock::gateway_server {

// A gateway with its dependencies, on an event loop in its own thread. The listen address in the
// section `gateway` of `configuration` is ignored.
class RunningGateway {
 public:
  explicit RunningGateway(const std::string& configuration);
  ~RunningGateway();
  RunningGateway(const RunningGateway&) = delete;
  RunningGateway& operator=(const RunningGateway&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] gateway::InFlight& in_flight() noexcept { return *in_flight_; }
  // The section `gateway`; the rules stay.
  [[nodiscard]] Result<void> reload(const std::string& configuration);

 private:
  rules::Configuration configuration_;
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  std::ostringstream log_text_;
  telemetry::Log log_;
  telemetry::Metrics metrics_{"test"};
  telemetry::WorkerMetrics& worker_metrics_;
  telemetry::HotKeyRegistry board_;
  telemetry::HotKeys hot_keys_;
  telemetry::RateLimitedLog limited_log_;
  service::Recorder recorder_;
  store::ShardedTable memory_;
  store::ShardedTable local_memory_;
  store::MemoryStore store_;
  service::Membership members_{1};
  service::LocalFallback local_;
  service::Service service_;
  std::unique_ptr<gateway::InFlight> in_flight_;
  std::unique_ptr<gateway::Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace penstock::gateway_server
