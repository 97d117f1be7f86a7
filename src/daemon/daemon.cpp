#include "daemon/daemon.hpp"

#include "core/duration_text.hpp"
#include "daemon/settings_change.hpp"
#include "daemon/startup_check.hpp"
#include "penstock/version.hpp"
#include "redis_store/requests.hpp"
#include "telemetry/metrics.hpp"

#include <boost/asio/post.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

namespace penstock::daemon {
namespace {

using boost::system::error_code;

constexpr Duration kWorkerPollInterval = std::chrono::milliseconds{500};
// A reachable Redis has answered by then.
constexpr unsigned kHeartbeatsBeforeWarning = 3;
// After a second has ended, so that a late timer is not early.
constexpr std::chrono::milliseconds kSampleDelay{5};
// Time for open admin requests after the workers have stopped.
constexpr Duration kAdminGrace = std::chrono::milliseconds{200};

Error error_of(const std::vector<rules::Diagnostic>& diagnostics) {
  std::string text = "the configuration cannot be used";
  for (const rules::Diagnostic& each : diagnostics) text += "\n  " + to_string(each);
  return {ErrorCode::InvalidInput, text};
}

std::string node_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host.front() = '?';
  std::random_device random;
  return std::string(host.data()) + "/" + std::to_string(getpid()) + "/" + std::to_string(random());
}

telemetry::LogOptions log_options(const rules::LogSettings& settings) {
  // both enums have the same order
  return {.level = static_cast<telemetry::LogLevel>(settings.level),
          .format = static_cast<telemetry::LogFormat>(settings.format)};
}

// FNV-1a of all files, in as many bits as a double holds exactly.
std::uint64_t hash_of(const std::vector<std::filesystem::path>& files) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    for (std::istreambuf_iterator<char> byte(in), end; byte != end; ++byte) {
      hash = (hash ^ static_cast<unsigned char>(*byte)) * 1'099'511'628'211U;
    }
  }
  return hash >> 12U;
}

// A change of these files triggers a reload.
std::vector<std::filesystem::path> watched_files(const DaemonOptions& options,
                                                 const rules::Configuration& configuration) {
  std::vector<std::filesystem::path> files = configuration.files;
  // directories: for created and deleted files
  files.insert(files.end(), options.configuration.begin(), options.configuration.end());
  for (const auto& tls : {configuration.settings.http.tls, configuration.settings.resp.tls,
                          configuration.settings.grpc.tls, configuration.settings.gateway.tls}) {
    if (!tls) continue;
    for (const std::string& file : {tls->certificate, tls->key, tls->client_ca}) {
      if (!file.empty()) files.emplace_back(file);
    }
  }
  const RedisOptions& redis = configuration.settings.redis;
  for (const std::string& file : {redis.ca_file, redis.certificate_file, redis.key_file}) {
    if (!file.empty()) files.emplace_back(file);
  }
  return files;
}

Result<void> with_prefix(const std::string& prefix, const Result<void>& result) {
  if (result) return {};
  return Error{result.error().code, prefix + result.error().detail};
}

// No delay on a terminal: no load balancer is involved.
Duration shutdown_delay(const DaemonOptions& options, const rules::Settings& settings) {
  if (options.shutdown_delay) return *options.shutdown_delay;
  if (settings.shutdown_delay) return *settings.shutdown_delay;
  const bool from_terminal = isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1;
  return from_terminal ? Duration{0} : rules::kShutdownDelay;
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::make(DaemonOptions options) {
  rules::Loaded loaded = rules::load(options.configuration);
  if (loaded.configuration) {
    for (rules::Diagnostic& each : check_startup(*loaded.configuration)) {
      report(loaded.diagnostics, std::move(each));
    }
  }
  if (rules::has_error(loaded.diagnostics)) return error_of(loaded.diagnostics);
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options), *std::move(loaded.configuration)));
  daemon->log(loaded.diagnostics);
  const Result<void> workers = daemon->start_workers();
  if (!workers) return workers.error();
  const Result<void> admin = daemon->start_admin();
  if (!admin) return admin.error();
  return daemon;
}

Daemon::Daemon(DaemonOptions options, rules::Configuration configuration)
    : options_(std::move(options)),
      configuration_(std::move(configuration)),
      configured_settings_(configuration_.settings),
      log_(log_options(configuration_.settings.log)),
      metrics_(kVersion),
      own_metrics_(metrics_.add_worker()),
      engines_(configuration_.settings, metrics_, log_),
      shared_(shared_by_workers(configuration_.settings)),
      node_(node_name()),
      signals_(loop_),
      files_timer_(loop_),
      state_timer_(loop_),
      sample_timer_(loop_),
      heartbeat_timer_(loop_),
      delay_timer_(loop_),
      admin_data_(admin_dependencies()),
      admin_(admin_data_) {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) signals_.add(signal);
  if (!options_.listen.empty()) configuration_.settings.http.listen = options_.listen;
  if (options_.admin) configuration_.settings.admin = *options_.admin;
  watch_.watch(watched_files(options_, configuration_));
  process_metrics_ = metrics_.add_source(telemetry::report_process);
  metrics_.set(telemetry::metrics::kOrphanKeys, 0);
  update_configuration_metrics(true);
  admin_data_.on_loaded(config_hash_, telemetry::MarkKind::Start);
}

Daemon::~Daemon() = default;

Result<void> Daemon::start_workers() {
  const rules::Settings& settings = configuration_.settings;
  const WorkerContext context{
      .settings = settings, .engines = engines_, .in_flight = in_flight_, .shared = shared_};
  std::vector<ListenerPlan> listeners = planned_listeners(settings);
  for (unsigned i = 0; i < engine::engine_count(settings); ++i) {
    Result<std::unique_ptr<ServeWorker>> worker =
        ServeWorker::make(context, workers_.size(), configuration_.rules);
    if (!worker) return worker.error();
    const bool is_first = workers_.empty();
    const Result<void> bound =
        (*worker)->listen(listeners, is_first ? net::PortReuse::Exclusive : net::PortReuse::Shared);
    if (!bound) return bound.error();
    workers_.push_back(*std::move(worker));
  }
  const store::StoreHealth unknown{.serving = settings.uses_memory_store(),
                                   .reason = "not connected yet"};
  admin_data_.set_stores(workers_.size(), unknown);
  metrics_.set(telemetry::metrics::kWorkers, static_cast<double>(workers_.size()));
  running_workers_ = workers_.size();
  for (const std::unique_ptr<ServeWorker>& worker : workers_) worker->start();
  log_listeners(listeners);
  return {};
}

void Daemon::log_listeners(const std::vector<ListenerPlan>& listeners) {
  for (const ListenerPlan& listener : listeners) {
    for (const net::Address& address : listener.listen) {
      log_.info("listening on " + listener.scheme + "://" + net::to_string(address),
                {{"listener", to_string(listener.kind)}});
    }
  }
}

Result<void> Daemon::start_admin() {
  const std::optional<net::Address>& wanted = configuration_.settings.admin;
  if (wanted == admin_configured_) return {};
  std::unique_ptr<http::Server> server;
  if (wanted) {
    server = std::make_unique<http::Server>(loop_, admin_, http::ServerOptions{});
    // On another host, the previous server still has this port.
    const bool is_same_port = admin_configured_ && admin_configured_->port == wanted->port;
    Result<std::vector<net::Address>> bound = server->listen(
        {*wanted}, is_same_port ? net::PortReuse::Shared : net::PortReuse::Exclusive);
    if (!bound) return bound.error();
    log_.info("admin on http://" + net::to_string(bound->front()));
  }
  admin_configured_ = wanted;
  std::swap(admin_server_, server);
  if (server == nullptr) return {};
  const http::Server* const stopped = stopping_admin_servers_.emplace_back(std::move(server)).get();
  stopping_admin_servers_.back()->stop(kAdminGrace, [this, stopped] {
    std::erase_if(stopping_admin_servers_, [&](const auto& each) { return each.get() == stopped; });
  });
  return {};
}

void Daemon::listen_for_changes() {
  const rules::Settings& settings = configuration_.settings;
  if (settings.uses_memory_store()) return;
  RedisOptions options = settings.redis;
  options.url = settings.store_url;
  changes_ = std::make_unique<redis_store::ChangeFeed>(
      loop_.get_executor(), options, *redis_store::client_options(options),
      [this](const redis_store::ChangedKey& changed) {
        if (changed.may_concern_overrides()) workers_.front()->refresh_overrides();
        if (changed.overrides) return;
        const auto effect = changed.change == redis_store::Change::Refunded
                                ? lease::LeasingStore::Change::Refunded
                                : lease::LeasingStore::Change::Revoked;
        const auto feed =
            changes_->is_listening() ? engine::Engine::Feed::Listening : engine::Engine::Feed::Lost;
        for (const auto& worker : workers_) {
          changed.name ? worker->invalidate(*changed.name, effect) : worker->invalidate_all(feed);
        }
      });
  changes_->start();
}

void Daemon::run() {
  wait_for_signal();
  listen_for_changes();
  watch_files();
  repeat(state_timer_, kWorkerPollInterval, &Daemon::poll_workers);
  repeat(heartbeat_timer_, service::Heartbeat::kInterval, &Daemon::send_heartbeat);
  poll_workers();
  sample_each_second();
  send_heartbeat();
  if (!configuration_.settings.uses_memory_store()) {
    auditor_ = std::make_unique<StoreAuditor>(configuration_.settings, node_, metrics_, log_);
  }
  log_start();
  loop_.run();
  auditor_.reset();
  log_.info("ended");
}

void Daemon::log_start() {
  std::string files;
  for (const std::filesystem::path& file : options_.configuration) {
    files += (files.empty() ? "" : " ") + file.string();
  }
  log_.info("serving", {{"version", std::string(kVersion)},
                        {"configuration", files},
                        {"store", configuration_.settings.uses_memory_store() ? "memory" : "redis"},
                        {"workers", std::to_string(workers_.size())},
                        {"rules", std::to_string(configuration_.rules->rules().size())}});
}

void Daemon::wait_for_signal() {
  signals_.async_wait([this](const error_code& failed, int signal) {
    if (failed) return;
    on_signal(signal);
    wait_for_signal();
  });
}

void Daemon::on_signal(int signal) {
  if (signal == SIGHUP) return reload();
  if (stopping_) {
    loop_.stop();
  } else if (draining_) {
    stop();
  } else {
    drain();
  }
}

void Daemon::repeat(boost::asio::steady_timer& timer, Duration every, void (Daemon::*what)()) {
  timer.expires_after(every);
  timer.async_wait([this, &timer, every, what](const error_code& failed) {
    if (failed || stopping_) return;
    (this->*what)();
    repeat(timer, every, what);
  });
}

void Daemon::watch_files() {
  files_timer_.expires_after(watch_.next_poll(system_clock().now()));
  files_timer_.async_wait([this](const error_code& failed) {
    if (failed || stopping_) return;
    if (watch_.poll(system_clock().now())) reload();
    watch_files();
  });
}

void Daemon::poll_workers() {
  log_outage_summary();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->poll_health([this, i](store::StoreHealth health) {
      boost::asio::post(loop_, [this, i, health = std::move(health)]() mutable {
        admin_data_.set_store(i, std::move(health));
      });
    });
  }
}

void Daemon::sample_each_second() {
  constexpr std::chrono::seconds kSecond{1};
  const Instant now = system_clock().now();
  admin_data_.tick(now);
  const auto next = std::chrono::floor<std::chrono::seconds>(now) + kSecond + kSampleDelay;
  sample_timer_.expires_after(next - now);
  sample_timer_.async_wait([this](const error_code& failed) {
    if (!failed && !stopping_) sample_each_second();
  });
}

AdminData::Dependencies Daemon::admin_dependencies() {
  return {.loop = loop_,
          .metrics = metrics_,
          .engines = engines_,
          .configuration = configuration_,
          .node = node_,
          .read_fleet =
              [this](store::FleetPart part, auto answered) {
                workers_.front()->read_fleet(part, std::move(answered));
              },
          .call_api =
              [this](auto request, auto respond) {
                workers_.front()->call_api(std::move(request), std::move(respond));
              }};
}

void Daemon::log_outage_summary() {
  const service::OutageLedger::Totals now = engines_.local.ledger().totals();
  if (now.names > 0 ||
      (now.reported == logged_outage_.reported && now.lost == logged_outage_.lost)) {
    return;
  }
  log_.info("outage reconciled: units admitted locally were reported to the store",
            {{"units", std::to_string(now.reported - logged_outage_.reported)},
             {"lost", std::to_string(now.lost - logged_outage_.lost)}});
  logged_outage_ = now;
}

void Daemon::send_heartbeat() {
  if (configuration_.settings.uses_memory_store()) return;
  if (++heartbeats_ == kHeartbeatsBeforeWarning) warn_of_unknown_nodes();
  workers_.front()->heartbeat(node_, service::Heartbeat::kTtl, admin_data_.node_report(),
                              [this](const Result<store::FleetState>& fleet) {
                                if (!fleet) return;
                                engines_.members.set_nodes(fleet->nodes);
                                node_count_known_ = true;
                                boost::asio::post(loop_, [this, is_watched = fleet->is_watched] {
                                  admin_data_.set_watched(is_watched);
                                });
                              });
}

void Daemon::warn_of_unknown_nodes() {
  const auto& rules = configuration_.rules->rules();
  if (engines_.members.is_configured()) return;
  const bool matters = std::any_of(rules.begin(), rules.end(), [](const auto& rule) {
    return rule->on_failure == rules::OnFailure::Local;
  });
  if (!matters || node_count_known_ || configuration_.settings.uses_memory_store()) return;
  log_.warning("number of nodes unknown: on_failure: local enforces the whole limit on each node",
               {{"reason", "Redis was not reached since the start"}, {"fix", "nodes: N"}});
}

void Daemon::reload() {
  ++reloads_;
  // baseline before the read: a write during the read is a change
  FileWatch before;
  before.watch(watched_files(options_, configuration_));
  rules::Loaded loaded = rules::load(options_.configuration);
  log(loaded.diagnostics);
  if (loaded.configuration) return use(*std::move(loaded.configuration), std::move(before));
  update_configuration_metrics(false);
  admin_data_.on_failed_reload(error_of(loaded.diagnostics).detail);
  log_.error("the configuration was not reloaded: the rules in force stay");
}

void Daemon::log(const rules::Diagnostics& diagnostics) {
  for (const rules::Diagnostic& each : diagnostics) {
    const bool is_error = each.severity == rules::Diagnostic::Severity::Error;
    log_.write(is_error ? telemetry::LogLevel::Error : telemetry::LogLevel::Warning,
               "configuration", {{"problem", to_string(each)}});
  }
}

void Daemon::use(rules::Configuration configuration, FileWatch before) {
  const std::vector<std::filesystem::path> watched = watched_files(options_, configuration_);
  configuration_.rules = std::move(configuration.rules);
  configuration_.files = std::move(configuration.files);
  engines_.use(configuration_.rules);
  for (const std::unique_ptr<ServeWorker>& worker : workers_) worker->use(configuration_.rules);
  use_settings(configuration.settings);
  watch_ = std::move(before);
  const std::vector<std::filesystem::path> now = watched_files(options_, configuration_);
  if (now != watched) watch_.watch(now);
  update_configuration_metrics(true);
  admin_data_.on_loaded(config_hash_, telemetry::MarkKind::Reload);
  log_.info("the configuration was reloaded",
            {{"rules", std::to_string(configuration_.rules->rules().size())}});
}

void Daemon::use_settings(const rules::Settings& settings) {
  const std::string later = needs_restart(configured_settings_, settings);
  if (!later.empty()) {
    log_.warning("settings that changed take effect after a restart", {{"settings", later}});
  }
  rules::Settings& ours = configuration_.settings;
  ours = with_reloadable(ours, settings);
  if (options_.admin) ours.admin = *options_.admin;
  log_.use(log_options(ours.log));
  engines_.reload(ours);
  use_address_limits(shared_, ours);
  if (auditor_ != nullptr) auditor_->reload(ours);
  const auto done = [this, reload = reloads_](const Result<void>& loaded) {
    if (loaded) return;
    boost::asio::post(
        loop_, [this, reload, why = loaded.error().detail] { on_failed_reload(reload, why); });
  };
  // Workers apply the rest even if these fail: a leaked token must be revoked.
  done(with_prefix("server.admin: ", start_admin()));
  done(with_prefix("store: ", reload_changes()));
  const auto shared = std::make_shared<const rules::Settings>(ours);
  for (const std::unique_ptr<ServeWorker>& worker : workers_) worker->reload(shared, done);
}

Result<void> Daemon::reload_changes() {
  if (changes_ == nullptr) return {};
  Result<redis::Options> client = redis_store::client_options(configuration_.settings.redis);
  if (!client) return client.error();
  return changes_->reload(*std::move(client));
}

void Daemon::on_failed_reload(unsigned reload, const std::string& why) {
  if (reload != reloads_) return;                 // a later one has replaced these settings
  if (admin_data_.reload_error() == why) return;  // reported by another worker
  admin_data_.on_failed_reload(why);
  update_configuration_metrics(false);
  log_.error("part of the configuration was not reloaded: its old values stay", {{"problem", why}});
}

void Daemon::update_configuration_metrics(bool is_good) {
  own_metrics_.cell(telemetry::metrics::kConfigReloads, {is_good ? "ok" : "failed"}).add();
  metrics_.set(telemetry::metrics::kConfigOk, is_good ? 1 : 0);
  if (!is_good) return;
  const auto since_1970 = std::chrono::duration<double>(system_clock().now().time_since_epoch());
  metrics_.set(telemetry::metrics::kConfigTime, since_1970.count());
  config_hash_ = hash_of(configuration_.files);
  metrics_.set(telemetry::metrics::kConfigHash, static_cast<double>(config_hash_));
  metrics_.set(telemetry::metrics::kConfigRules,
               static_cast<double>(configuration_.rules->rules().size()));
}

void Daemon::drain() {
  draining_ = true;
  admin_data_.set_stopping();
  const Duration delay = shutdown_delay(options_, configuration_.settings);
  if (delay == Duration{0}) return stop();
  log_.info("shutting down: not ready, and still serving",
            {{"shutdown_delay", core::duration_text(delay)}});
  for (const std::unique_ptr<ServeWorker>& worker : workers_) worker->drain();
  delay_timer_.expires_after(delay);
  delay_timer_.async_wait([this](const error_code& failed) {
    if (!failed && !stopping_) stop();
  });
}

void Daemon::stop() {
  draining_ = true;
  admin_data_.set_stopping();
  stopping_ = true;
  delay_timer_.cancel();
  log_.info("stopping: finishing requests in flight");
  workers_.front()->heartbeat(node_, Duration{0}, {}, [](const Result<store::FleetState>&) {});
  for (const std::unique_ptr<ServeWorker>& worker : workers_) {
    worker->stop(configuration_.settings.shutdown_grace,
                 [this] { boost::asio::post(loop_, [this] { on_worker_stopped(); }); });
  }
}

void Daemon::on_worker_stopped() {
  if (--running_workers_ > 0) return;
  signals_.cancel();
  if (admin_server_ == nullptr) return loop_.stop();
  admin_server_->stop(kAdminGrace, [this] { loop_.stop(); });
}

}  // namespace penstock::daemon
