#include "apps/command_line/arguments.hpp"

#include "base/text.hpp"
#include "core/duration_text.hpp"

#include <optional>
#include <string>

namespace penstock::app {
namespace {

Error expected(std::string_view option, std::string_view text, const std::string& values) {
  return {ErrorCode::InvalidInput,
          std::string(option) + " \"" + std::string(text) + "\": expected " + values};
}

}  // namespace

Result<std::int64_t> parse_number(std::string_view option, std::string_view text,
                                  NumberRange range) {
  const auto value = base::parse_number<std::int64_t>(text);
  if (value && *value >= range.min && *value <= range.max) return *value;
  return expected(
      option, text,
      "a whole number from " + std::to_string(range.min) + " to " + std::to_string(range.max));
}

Result<Duration> parse_duration(std::string_view option, std::string_view text, Duration min,
                                Duration max) {
  const std::optional<Duration> duration = core::parse_duration(text);
  if (duration && *duration >= min && *duration <= max) return *duration;
  return expected(option, text,
                  "a time such as 250ms, 10s, 5m, 2h or 1d, from " + core::exact_text(min) +
                      " to " + core::exact_text(max));
}

const char* const kLimitHelp =
    "Limits: 100/s, 600/minute, 30/30s, \"5000/5m burst 200\", \"1000000/day sliding_counter\".\n"
    "Algorithms: token_bucket (the default), gcra, fixed_window,\n"
    "anchored_window, sliding_log, sliding_counter, sub_windows.";

void add_limit_options(CLI::App& command, LimitArguments& arguments) {
  command.add_option("--limit", arguments.limit, "The limit, such as 100/m")
      ->required()
      ->type_name("LIMIT");
  command.add_option("--burst", arguments.burst, "Burst of a bucket; default the limit")
      ->type_name("N");
  command.add_option("--algorithm", arguments.algorithm, "Algorithm; default token_bucket")
      ->type_name("NAME");
}

Result<Quota> read_quota(const LimitArguments& arguments) {
  Result<QuotaSpec> spec = QuotaSpec::parse(arguments.limit);
  if (!spec) return Error{spec.error().code, "--limit " + spec.error().detail};
  if (arguments.burst) {
    const Result<std::int64_t> burst = parse_number("--burst", *arguments.burst, {.min = 1});
    if (!burst) return burst.error();
    spec->capacity = *burst;
  }
  if (arguments.algorithm) {
    const Result<Algorithm> algorithm = parse_algorithm(*arguments.algorithm);
    if (!algorithm) {
      return Error{algorithm.error().code, "--algorithm: " + algorithm.error().detail};
    }
    spec->algorithm = *algorithm;
  }
  Result<Quota> quota = Quota::make(*spec);
  if (!quota) {
    return Error{quota.error().code,
                 "--limit \"" + arguments.limit + "\": " + quota.error().detail};
  }
  return quota;
}

void add_key_argument(CLI::App& command, std::string& key) {
  command.add_option("KEY", key, "The client: a user, an address, an API key")
      ->required()
      ->type_name("");
}

Result<void> check_key(const std::string& key) {
  if (!key.empty()) return {};
  return Error{ErrorCode::InvalidInput, "KEY \"\": expected at least one character"};
}

const char* const kStoreHelp =
    "Stores: redis://[user:password@]host[:port][/database], rediss:// over TLS,\n"
    "redis+unix:///path, redis-sentinel://host,host/name, redis-cluster://host,host.\n"
    "Other users can see a password on the command line; put the URL into the environment "
    "variable\n"
    "PENSTOCK_STORE instead.";

void add_connection_options(CLI::App& command, StoreArguments& arguments) {
  command.add_option("--timeout", arguments.timeout, "Timeout of a call")
      ->capture_default_str()
      ->type_name("TIME");
  command.add_option("--ca", arguments.ca, "TLS: PEM file of the trusted CAs")->type_name("FILE");
  command.add_option("--cert", arguments.certificate, "TLS: PEM file of the client certificate")
      ->type_name("FILE");
  command.add_option("--key", arguments.key, "TLS: PEM file of its key")->type_name("FILE");
}

void add_url_option(CLI::App& command, StoreArguments& arguments) {
  CLI::Option* store = command.add_option("--store", arguments.url, "The store")
                           ->type_name("URL")
                           ->envname(kStoreVariable);
  if (arguments.url.empty()) {
    store->required();
  } else {
    store->capture_default_str();
  }
}

void add_store_options(CLI::App& command, StoreArguments& arguments) {
  add_url_option(command, arguments);
  command.add_option("--prefix", arguments.prefix, "Prefix of the keys in Redis")
      ->capture_default_str()
      ->type_name("TEXT");
  add_connection_options(command, arguments);
}

Result<RedisOptions> redis_options(const StoreArguments& arguments, std::string_view missing) {
  if (arguments.is_memory()) {
    return Error{ErrorCode::InvalidInput,
                 "--store memory:// belongs to this process alone: there is " +
                     std::string(missing) + "; use a Redis, such as redis://127.0.0.1:6379"};
  }
  const Result<Duration> timeout = parse_duration(
      "--timeout", arguments.timeout, std::chrono::milliseconds{1}, std::chrono::hours{1});
  if (!timeout) return timeout.error();
  RedisOptions options;
  options.url = arguments.url;
  options.timeout = *timeout;
  options.connect_timeout = *timeout;
  options.key_prefix = arguments.prefix;
  options.ca_file = arguments.ca;
  options.certificate_file = arguments.certificate;
  options.key_file = arguments.key;
  return options;
}

}  // namespace penstock::app
