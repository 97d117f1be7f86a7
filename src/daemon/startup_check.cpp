#include "daemon/startup_check.hpp"

#include "net/tls.hpp"
#include "redis_store/requests.hpp"
#include "wire/http/api/api.hpp"
#include "wire/resp/server.hpp"

#include <unistd.h>

#include <filesystem>
#include <string_view>

namespace penstock::daemon {
namespace {

class StartupCheck {
 public:
  explicit StartupCheck(const rules::Configuration& configuration)
      : configuration_(configuration), settings_(configuration.settings) {}

  rules::Diagnostics run() && {
    check_tls("server", settings_.http.tls);
    check_tls("grpc", settings_.grpc.tls);
    check_tls("resp", settings_.resp.tls);
    check_tls("gateway", settings_.gateway.tls);
    note("server", http::api_settings(settings_));
    note("resp.listen", wire::resp::require_password(settings_.resp));
    check_access_log();
    check_store();
    return std::move(found_);
  }

 private:
  void report(std::string_view section, const std::string& message) {
    const auto place = configuration_.places.find(section);
    rules::Diagnostic problem{.file = {}, .message = message};
    if (place != configuration_.places.end()) {
      problem.file = place->second.file;
      problem.line = place->second.line;
      problem.column = place->second.column;
    } else if (!configuration_.files.empty()) {
      problem.file = configuration_.files.front().string();
    }
    rules::report(found_, std::move(problem));
  }

  template <class Value>
  void note(std::string_view section, const Result<Value>& result, std::string_view prefix = {}) {
    if (!result) report(section, std::string(prefix) + result.error().detail);
  }

  void check_tls(const std::string& section, const std::optional<net::TlsFiles>& files) {
    if (!files) return;
    note(section + ".tls", net::make_tls_context(*files, {}), section + ".");
  }

  // Does not create the file.
  void check_access_log() {
    const rules::AccessLogSettings& log = settings_.gateway.access_log;
    const bool is_file =
        log.format != rules::AccessLogSettings::Format::Off && log.path != "stdout";
    if (!is_file || settings_.gateway.listen.empty()) return;
    std::error_code ignored;
    const std::filesystem::path path(log.path);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const bool exists = std::filesystem::exists(path, ignored);
    const bool is_writable =
        exists ? !std::filesystem::is_directory(path, ignored) && access(path.c_str(), W_OK) == 0
               : access(folder.c_str(), W_OK | X_OK) == 0;
    if (is_writable) return;
    report("gateway.access_log", "gateway.access_log: " + log.path + " cannot be written");
  }

  void check_store() {
    if (settings_.uses_memory_store()) return;
    RedisOptions options = settings_.redis;
    options.url = settings_.store_url;
    const Result<redis::Options> client = redis_store::client_options(options);
    note("store", client, "store: ");
    if (client) note("store", redis_store::check_tls_files(*client), "store: ");
  }

  const rules::Configuration& configuration_;
  const rules::Settings& settings_;
  rules::Diagnostics found_;
};

}  // namespace

rules::Diagnostics check_startup(const rules::Configuration& configuration) {
  return StartupCheck(configuration).run();
}

}  // namespace penstock::daemon
