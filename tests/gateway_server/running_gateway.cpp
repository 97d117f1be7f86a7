#include "gateway_server/running_gateway.hpp"

#include <boost/asio/post.hpp>

#include <future>
#include <stdexcept>
#include <utility>

namespace penstock::gateway_server {
namespace {

rules::Configuration load(const std::string& text) {
  rules::Loaded loaded = rules::load_text(text, "test.yaml");
  for (const rules::Diagnostic& each : loaded.diagnostics) {
    if (!loaded.configuration) throw std::runtime_error(to_string(each));
  }
  return *std::move(loaded.configuration);
}

}  // namespace

RunningGateway::RunningGateway(const std::string& configuration)
    : configuration_(load(configuration)),
      busy_(boost::asio::make_work_guard(loop_)),
      log_({}, log_text_),
      worker_metrics_(metrics_.add_worker()),
      hot_keys_(board_, 0),
      limited_log_(log_, system_clock(),
                   worker_metrics_.cell(telemetry::metrics::kLogLinesSuppressed)),
      recorder_(worker_metrics_, hot_keys_, limited_log_),
      memory_(configuration_.settings.memory),
      local_memory_(configuration_.settings.memory),
      store_(memory_),
      local_(local_memory_, members_),
      service_(store_.stores(), local_, recorder_, configuration_.rules),
      in_flight_(std::make_unique<gateway::InFlight>()) {
  gateway::ServerOptions options{.tick = std::chrono::milliseconds{5}};
  options.use(configuration_.settings);
  server_ = std::make_unique<gateway::Server>(loop_,
                                              gateway::GatewayDeps{.service = service_,
                                                                   .metrics = worker_metrics_,
                                                                   .in_flight = *in_flight_,
                                                                   .clock = system_clock()},
                                              options);
  const auto bound = server_->listen({{.host = "127.0.0.1", .port = 0}}, net::PortReuse::Exclusive);
  if (!bound) throw std::runtime_error(bound.error().detail);
  port_ = bound->front().port;
  thread_ = std::thread([this] { loop_.run(); });
}

RunningGateway::~RunningGateway() {
  std::promise<void> stopped;
  boost::asio::post(
      loop_, [&] { server_->stop(std::chrono::milliseconds{100}, [&] { stopped.set_value(); }); });
  stopped.get_future().wait();
  busy_.reset();
  loop_.stop();
  thread_.join();
}

Result<void> RunningGateway::reload(const std::string& configuration) {
  const rules::Configuration loaded = load(configuration);
  std::promise<Result<void>> reloaded;
  boost::asio::post(loop_, [&] { reloaded.set_value(server_->reload(loaded.settings)); });
  return reloaded.get_future().get();
}

}  // namespace penstock::gateway_server
