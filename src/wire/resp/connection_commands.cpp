// Commands about the connection: authentication, protocol version, client name.
// Commands that describe the server.
#include "net/constant_time_equal.hpp"
#include "wire/resp/commands.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace penstock::wire::resp {
namespace {

using penstock::resp::Version;

constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";
constexpr std::size_t kLongestClientName = 256;

bool is_user(const CommandContext& context, std::string_view user, std::string_view password) {
  const std::vector<std::string>& ours = context.server_context().settings.passwords;
  const bool is_right = ours.empty() || net::constant_time_equal_any(password, ours);
  return is_right && user == "default";
}

bool is_name(std::string_view text) {
  return text.size() <= kLongestClientName &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

constexpr std::string_view kBadName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

// The arguments of HELLO.
struct Greeting {
  Version version;
  bool proves = false;  // has AUTH
  std::string_view name{};
  bool sets_name = false;
};

// False when an error was sent.
bool read_greeting(const CommandContext& context, Greeting& greeting) {
  std::size_t i = 1;
  if (context.size() > 1) {
    const std::optional<std::int64_t> version = parse_number(context.word(i++));
    if (!version) {
      context.error("ERR Protocol version is not an integer or out of range");
      return false;
    }
    if (*version != 2 && *version != 3) {
      context.error("NOPROTO unsupported protocol version");
      return false;
    }
    greeting.version = *version == 3 ? Version::Three : Version::Two;
  }
  while (i < context.size()) {
    if (equals_ignoring_case(context.word(i), "auth") && i + 2 < context.size()) {
      if (!is_user(context, context.word(i + 1), context.word(i + 2))) {
        context.error(kWrongPassword);
        return false;
      }
      greeting.proves = true;
      i += 3;
    } else if (equals_ignoring_case(context.word(i), "setname") && i + 1 < context.size()) {
      greeting.name = context.word(i + 1);
      greeting.sets_name = true;
      i += 2;
    } else {
      context.error("ERR Syntax error in HELLO option '" + std::string(context.word(i)) + "'");
      return false;
    }
  }
  return true;
}

std::string client_line(const ClientInfo& client_info) {
  return "id=" + std::to_string(client_info.id) + " addr=" + client_info.peer +
         " name=" + client_info.name +
         " db=0 resp=" + std::to_string(static_cast<int>(client_info.version)) +
         " lib-name=" + client_info.library + " user=default\n";
}

void set_name(const CommandContext& context, std::string_view name) {
  if (!is_name(name)) return context.error(kBadName);
  context.client_info().name = name;
  context.reply().simple("OK");
}

// Client libraries send their name on every connection.
void set_library(const CommandContext& context) {
  if (!is_name(context.word(3))) return context.error(kBadName);
  if (equals_ignoring_case(context.word(2), "lib-name")) {
    context.client_info().library = context.word(3);
  } else if (!equals_ignoring_case(context.word(2), "lib-ver")) {
    return context.error("ERR Unrecognized option '" + std::string(context.word(2)) + "'");
  }
  context.reply().simple("OK");
}

}  // namespace

// PING [message]: PONG, or the message.
void ping(const CommandContext& context) {
  if (context.size() == 1) return context.reply().simple("PONG");
  context.reply().bulk(context.word(1));
}

void echo(const CommandContext& context) { context.reply().bulk(context.word(1)); }

// AUTH password, or AUTH default password.
void auth(const CommandContext& context) {
  const bool has_user = context.size() == 3;
  if (!has_user && context.server_context().settings.passwords.empty()) {
    return context.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const std::string_view user = has_user ? context.word(1) : "default";
  if (!is_user(context, user, context.word(has_user ? 2 : 1))) {
    return context.error(kWrongPassword);
  }
  context.session().set_authenticated(true);
  context.reply().simple("OK");
}

// HELLO [2|3 [AUTH user password] [SETNAME name]]: the server, in the requested protocol.
void hello(const CommandContext& context) {
  ClientInfo& client_info = context.client_info();
  Greeting greeting{.version = client_info.version};
  if (!read_greeting(context, greeting)) return;
  if (greeting.proves) context.session().set_authenticated(true);
  if (!client_info.is_authenticated) {
    return context.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  if (greeting.sets_name && !is_name(greeting.name)) return context.error(kBadName);
  if (greeting.sets_name) client_info.name = greeting.name;
  client_info.version = greeting.version;
  ReplyWriter reply = context.reply();
  reply.map(7);
  reply.bulk("server");
  reply.bulk("penstock");
  reply.bulk("version");
  reply.bulk(context.server_context().settings.version);
  reply.bulk("proto");
  reply.integer(static_cast<std::int64_t>(client_info.version));
  reply.bulk("id");
  reply.integer(static_cast<std::int64_t>(client_info.id));
  reply.bulk("mode");
  reply.bulk("standalone");
  reply.bulk("role");
  reply.bulk("master");
  reply.bulk("modules");
  reply.array(0);
}

// CLUSTER, READONLY, READWRITE, ASKING: as a Redis that is not part of a cluster.
void cluster_disabled(const CommandContext& context) {
  context.error("ERR This instance has cluster support disabled");
}

// SELECT 0: there is one database.
void select(const CommandContext& context) {
  const std::optional<std::int64_t> database = parse_number(context.word(1));
  if (!database) return context.error("ERR value is not an integer or out of range");
  if (*database != 0) {
    return context.error("ERR DB index is out of range: Penstock has only database 0");
  }
  context.reply().simple("OK");
}

// CLIENT SETNAME name, GETNAME, ID, INFO, LIST, SETINFO what text, NO-EVICT x, NO-TOUCH x. Values
// are not cached by clients: TRACKING is an error, except OFF.
void client(const CommandContext& context) {
  const std::string what = base::lower_case(context.word(1).substr(0, 64));
  const std::size_t size = context.size();
  if (what == "setname" && size == 3) return set_name(context, context.word(2));
  if (what == "setinfo" && size == 4) return set_library(context);
  const ClientInfo& client_info = context.client_info();
  if (what == "getname" && size == 2) {
    if (client_info.name.empty()) return context.reply().null();
    return context.reply().bulk(client_info.name);
  }
  if (what == "id" && size == 2) {
    return context.reply().integer(static_cast<std::int64_t>(client_info.id));
  }
  if ((what == "info" || what == "list") && size == 2) {
    return context.reply().bulk(client_line(client_info));
  }
  if ((what == "no-evict" || what == "no-touch") && size == 3) {
    return context.reply().simple("OK");
  }
  if (what == "tracking" && size == 3 && equals_ignoring_case(context.word(2), "off")) {
    return context.reply().simple("OK");
  }
  if (what == "tracking" || what == "caching") {
    return context.error("ERR client-side caching is not supported");
  }
  context.error("ERR unknown subcommand or wrong number of arguments for '" + what +
                "'. Try CLIENT SETNAME, GETNAME, ID, INFO, LIST, SETINFO, NO-EVICT.");
}

// QUIT: OK, and the end.
void quit(const CommandContext& context) {
  context.reply().simple("OK");
  context.session().close_after_reply();
}

// RESET: as if the client had just come.
void reset(const CommandContext& context) {
  ClientInfo& client_info = context.client_info();
  client_info.version = Version::Two;
  client_info.name.clear();
  context.session().transaction().discard();
  context.session().set_authenticated(context.server_context().settings.passwords.empty());
  context.reply().simple("RESET");
}

namespace {

// As Redis 7 describes a command; unused elements are empty.
void write_description(ReplyWriter& reply, const Command& command) {
  const auto words = static_cast<std::int64_t>(command.min_words);
  reply.array(10);
  reply.bulk(command.name);
  reply.integer(command.max_words == command.min_words ? words : -words);
  reply.array(2);
  reply.simple(command.kind == Command::Kind::Read ? "readonly" : "write");
  reply.simple("fast");
  reply.integer(command.has(Command::HasKey) ? 1 : 0);
  reply.integer(command.has(Command::HasKey) ? 1 : 0);
  reply.integer(command.has(Command::HasKey) ? 1 : 0);
  for (int i = 0; i < 4; ++i) reply.array(0);  // categories, tips, keys, subcommands
}

using Lines = std::vector<std::pair<std::string_view, std::string>>;

struct Section {
  std::string_view title;
  Lines lines;
};

std::vector<Section> sections(const CommandContext& context) {
  const ServerContext& around = context.server_context();
  const net::Statistics& counted = around.statistics;
  return {{"Server",
           {{"penstock_version", around.settings.version},
            {"redis_version", "7.0.0"},  // the version of the commands
            {"redis_mode", "standalone"}}},
          {"Clients", {{"connected_clients", std::to_string(counted.open)}}},
          {"Persistence", {{"loading", "0"}}},
          {"Stats",
           {{"total_connections_received", std::to_string(counted.accepted)},
            {"rejected_connections", std::to_string(counted.rejected)},
            {"total_commands_processed", std::to_string(counted.requests)},
            {"total_net_input_bytes", std::to_string(counted.bytes_in)},
            {"total_net_output_bytes", std::to_string(counted.bytes_out)}}},
          {"Replication", {{"role", "master"}, {"connected_slaves", "0"}}}};
}

bool is_wanted(const CommandContext& context, std::string_view section) {
  const auto words = context.words().subspan(1);
  if (words.empty()) return true;
  const std::string wanted = base::lower_case(section);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return equals_ignoring_case(word, wanted) || equals_ignoring_case(word, "all") ||
           equals_ignoring_case(word, "everything") || equals_ignoring_case(word, "default");
  });
}

}  // namespace

// COMMAND [COUNT | LIST | DOCS … | INFO name …]: the commands that there are.
void command(const CommandContext& context) {
  const std::string what =
      context.size() > 1 ? base::lower_case(context.word(1).substr(0, 64)) : std::string{};
  if (what == "count") {
    return context.reply().integer(static_cast<std::int64_t>(all_commands().size()));
  }
  if (what == "docs") return context.reply().map(0);
  if (what.empty() || (what == "info" && context.size() == 2)) {
    ReplyWriter reply = context.reply();
    reply.array(all_commands().size());
    for (const Command& each : all_commands()) write_description(reply, each);
    return;
  }
  if (what == "list" && context.size() == 2) {
    ReplyWriter reply = context.reply();
    reply.array(all_commands().size());
    for (const Command& each : all_commands()) reply.bulk(each.name);
    return;
  }
  if (what != "info") {
    return context.error("ERR unknown subcommand '" + what + "'. Try COMMAND COUNT.");
  }
  ReplyWriter reply = context.reply();
  reply.array(context.size() - 2);
  for (const std::string_view name : context.words().subspan(2)) {
    const Command* const found = find_command(name);
    if (found == nullptr) {
      reply.null();
    } else {
      write_description(reply, *found);
    }
  }
}

// INFO [section …]: lines of "name:value". The numbers are of one worker.
void info(const CommandContext& context) {
  std::string text;
  for (const Section& section : sections(context)) {
    if (!is_wanted(context, section.title)) continue;
    if (!text.empty()) text += "\r\n";
    text += "# " + std::string(section.title) + "\r\n";
    for (const auto& [name, value] : section.lines) {
      text += std::string(name) + ":" + value + "\r\n";
    }
  }
  context.reply().bulk(text);
}

}  // namespace penstock::wire::resp
