#include "apps/command_line/store_arguments.hpp"

#include "apps/command_line/value_arguments.hpp"

namespace penstock::app {

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
