#include "redis_store/requests.hpp"

#include "redis/connection.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace penstock::redis_store {
namespace {

using std::chrono::milliseconds;

Error invalid(const std::string& what) {
  return {ErrorCode::InvalidInput, "RedisOptions: " + what};
}

Result<void> check_duration(std::string_view name, Duration duration) {
  if (duration >= milliseconds{1}) return {};
  return invalid(std::string(name) + " " + std::to_string(duration.count()) +
                 " us must be at least 1 ms");
}

Result<void> check_file(std::string_view name, const std::string& path) {
  std::error_code failure;
  if (path.empty() || std::filesystem::exists(path, failure)) return {};
  return invalid(std::string(name) + " \"" + path + "\": no such file");
}

Result<void> check_prefix(const std::string& prefix) {
  if (prefix.empty()) return invalid("key_prefix must not be empty");
  for (const char letter : prefix) {
    if (letter == '{' || letter == '}' || letter == '*' || letter == '?' || letter == '[' ||
        letter == '\\' || static_cast<unsigned char>(letter) <= ' ') {
      return invalid("key_prefix \"" + prefix + "\" has one of the characters {}*?[\\ or a space");
    }
  }
  return {};
}

}  // namespace

CheckRequest request_for(const KeyLayout& layout, std::string_view key, const Limits& limits,
                         Cost cost) {
  CheckRequest request;
  request.guard = layout.limit(key);
  for (std::size_t i = 0; i < limits.size(); ++i) {
    request.checks.push_back(
        {.key = layout.limit(key, limits[i].name), .quota = limits[i].quota, .cost = cost});
  }
  return request;
}

CheckRequest request_for(const KeyLayout& layout, std::span<const Check> checks) {
  CheckRequest request;
  request.checks.reserve(checks.size());
  for (const Check& check : checks) {
    request.checks.push_back(
        {.key = layout.limit(check.key), .quota = check.quota, .cost = check.cost});
  }
  return request;
}

Result<redis::Options> client_options(const RedisOptions& options) {
  Result<redis::Url> url = redis::Url::parse(options.url);
  if (!url) return url.error();
  for (const Result<void>& checked :
       {check_prefix(options.key_prefix), check_duration("timeout", options.timeout),
        check_duration("connect_timeout", options.connect_timeout),
        check_duration("breaker_min_pause", options.breaker_min_pause),
        check_file("ca_file", options.ca_file),
        check_file("certificate_file", options.certificate_file),
        check_file("key_file", options.key_file)}) {
    if (!checked) return checked.error();
  }
  if (options.breaker_max_pause < options.breaker_min_pause) {
    return invalid("breaker_max_pause " + std::to_string(options.breaker_max_pause.count()) +
                   " us is below breaker_min_pause");
  }
  if (options.max_waiting == 0) return invalid("max_waiting 0 must be at least 1");
  if (options.breaker_failures == 0) return invalid("breaker_failures 0 must be at least 1");
  redis::Options client;
  client.url = *std::move(url);
  client.tls = {.ca_file = options.ca_file,
                .certificate_file = options.certificate_file,
                .key_file = options.key_file,
                .server_name = options.server_name};
  client.sentinel_user = options.sentinel_user;
  client.sentinel_password = options.sentinel_password;
  client.connect_timeout = std::chrono::ceil<milliseconds>(options.connect_timeout);
  client.max_in_flight = options.max_waiting;
  client.breaker_failures = options.breaker_failures;
  client.breaker_min_pause = std::chrono::ceil<milliseconds>(options.breaker_min_pause);
  client.breaker_max_pause = std::chrono::ceil<milliseconds>(options.breaker_max_pause);
  client.probe_timeout = std::chrono::ceil<milliseconds>(options.timeout);
  client.on_event = options.on_event;
  return client;
}

bool same_server(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto without_login = [](const std::string& text) -> std::optional<std::string> {
    Result<redis::Url> url = redis::Url::parse(text);
    if (!url) return std::nullopt;
    url->user.clear();
    url->password.clear();
    return to_string(*url);
  };
  const std::optional<std::string> one = without_login(a);
  return one && one == without_login(b);
}

Result<void> check_tls_files(const redis::Options& client) {
  if (client.url.transport == redis::Transport::Plain) return {};
  const auto context = redis::make_tls_context(client.tls);
  if (!context) return context.error();
  return {};
}

RedisStats public_stats(const redis::ClientStats& stats) {
  return {.round_trips = stats.commands,
          .retries = stats.retries,
          .connects = stats.connects,
          .timeouts = stats.timeouts,
          .fast_fails = stats.fast_fails};
}

}  // namespace penstock::redis_store
