// Who talks to whom, and how.
#include "net/secret.hpp"
#include "wire/resp/commands.hpp"

#include <algorithm>
#include <string>

namespace penstock::wire::resp {
namespace {

using penstock::resp::Version;

constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";
constexpr std::size_t kLongestClientName = 256;

bool is_user(const Exchange& exchange, std::string_view user, std::string_view password) {
  const std::vector<std::string>& ours = exchange.surroundings().terms.passwords;
  const bool is_right = ours.empty() || net::is_any_secret(password, ours);
  return is_right && user == "default";
}

bool is_name(std::string_view text) {
  return text.size() <= kLongestClientName &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

constexpr std::string_view kBadName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

// What HELLO was asked for.
struct Greeting {
  Version version;
  bool proves = false;  // who it is
  std::string_view name{};
  bool sets_name = false;
};

// False when it has been refused.
bool read_greeting(const Exchange& exchange, Greeting& greeting) {
  std::size_t i = 1;
  if (exchange.size() > 1) {
    const std::optional<std::int64_t> version = whole_number(exchange.word(i++));
    if (!version) {
      exchange.refuse("ERR Protocol version is not an integer or out of range");
      return false;
    }
    if (*version != 2 && *version != 3) {
      exchange.refuse("NOPROTO unsupported protocol version");
      return false;
    }
    greeting.version = *version == 3 ? Version::Three : Version::Two;
  }
  while (i < exchange.size()) {
    if (is_word(exchange.word(i), "auth") && i + 2 < exchange.size()) {
      if (!is_user(exchange, exchange.word(i + 1), exchange.word(i + 2))) {
        exchange.refuse(kWrongPassword);
        return false;
      }
      greeting.proves = true;
      i += 3;
    } else if (is_word(exchange.word(i), "setname") && i + 1 < exchange.size()) {
      greeting.name = exchange.word(i + 1);
      greeting.sets_name = true;
      i += 2;
    } else {
      exchange.refuse("ERR Syntax error in HELLO option '" + std::string(exchange.word(i)) + "'");
      return false;
    }
  }
  return true;
}

std::string client_line(const Session& session) {
  return "id=" + std::to_string(session.id) + " addr=" + session.peer + " name=" + session.name +
         " db=0 resp=" + std::to_string(static_cast<int>(session.version)) +
         " lib-name=" + session.library + " user=default\n";
}

void set_name(const Exchange& exchange, std::string_view name) {
  if (!is_name(name)) return exchange.refuse(kBadName);
  exchange.session().name = name;
  exchange.reply().simple("OK");
}

// Libraries say who they are with every connection.
void set_library(const Exchange& exchange) {
  if (!is_name(exchange.word(3))) return exchange.refuse(kBadName);
  if (is_word(exchange.word(2), "lib-name")) {
    exchange.session().library = exchange.word(3);
  } else if (!is_word(exchange.word(2), "lib-ver")) {
    return exchange.refuse("ERR Unrecognized option '" + std::string(exchange.word(2)) + "'");
  }
  exchange.reply().simple("OK");
}

}  // namespace

// PING [message]: PONG, or the message.
void ping(const Exchange& exchange) {
  if (exchange.size() == 1) return exchange.reply().simple("PONG");
  exchange.reply().bulk(exchange.word(1));
}

void echo(const Exchange& exchange) { exchange.reply().bulk(exchange.word(1)); }

// AUTH password, or AUTH default password.
void auth(const Exchange& exchange) {
  const bool has_user = exchange.size() == 3;
  if (!has_user && exchange.surroundings().terms.passwords.empty()) {
    return exchange.refuse(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const std::string_view user = has_user ? exchange.word(1) : "default";
  if (!is_user(exchange, user, exchange.word(has_user ? 2 : 1))) {
    return exchange.refuse(kWrongPassword);
  }
  exchange.conversation().set_known(true);
  exchange.reply().simple("OK");
}

// HELLO [2|3 [AUTH user password] [SETNAME name]]: who we are, in the protocol that is wanted.
void hello(const Exchange& exchange) {
  Session& session = exchange.session();
  Greeting greeting{.version = session.version};
  if (!read_greeting(exchange, greeting)) return;
  if (greeting.proves) exchange.conversation().set_known(true);
  if (!session.is_known) {
    return exchange.refuse(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  if (greeting.sets_name && !is_name(greeting.name)) return exchange.refuse(kBadName);
  if (greeting.sets_name) session.name = greeting.name;
  session.version = greeting.version;
  ReplyWriter reply = exchange.reply();
  reply.map(7);
  reply.bulk("server");
  reply.bulk("penstock");
  reply.bulk("version");
  reply.bulk(exchange.surroundings().terms.version);
  reply.bulk("proto");
  reply.integer(static_cast<std::int64_t>(session.version));
  reply.bulk("id");
  reply.integer(static_cast<std::int64_t>(session.id));
  reply.bulk("mode");
  reply.bulk("standalone");
  reply.bulk("role");
  reply.bulk("master");
  reply.bulk("modules");
  reply.array(0);
}

// CLUSTER, READONLY, READWRITE, ASKING: as a Redis that is not part of a cluster.
void no_cluster(const Exchange& exchange) {
  exchange.refuse("ERR This instance has cluster support disabled");
}

// SELECT 0: there is one database.
void select(const Exchange& exchange) {
  const std::optional<std::int64_t> database = whole_number(exchange.word(1));
  if (!database) return exchange.refuse("ERR value is not an integer or out of range");
  if (*database != 0) {
    return exchange.refuse("ERR DB index is out of range: Penstock has only database 0");
  }
  exchange.reply().simple("OK");
}

// CLIENT SETNAME name, GETNAME, ID, INFO, LIST, SETINFO what text, NO-EVICT x, NO-TOUCH x. Values
// are not cached by clients: TRACKING is an error, but to switch it off.
void client(const Exchange& exchange) {
  const std::string what = in_small(exchange.word(1).substr(0, 64));
  const std::size_t size = exchange.size();
  if (what == "setname" && size == 3) return set_name(exchange, exchange.word(2));
  if (what == "setinfo" && size == 4) return set_library(exchange);
  const Session& session = exchange.session();
  if (what == "getname" && size == 2) {
    if (session.name.empty()) return exchange.reply().null();
    return exchange.reply().bulk(session.name);
  }
  if (what == "id" && size == 2) {
    return exchange.reply().integer(static_cast<std::int64_t>(session.id));
  }
  if ((what == "info" || what == "list") && size == 2) {
    return exchange.reply().bulk(client_line(session));
  }
  if ((what == "no-evict" || what == "no-touch") && size == 3) {
    return exchange.reply().simple("OK");
  }
  if (what == "tracking" && size == 3 && is_word(exchange.word(2), "off")) {
    return exchange.reply().simple("OK");
  }
  if (what == "tracking" || what == "caching") {
    return exchange.refuse("ERR client-side caching is not supported");
  }
  exchange.refuse("ERR unknown subcommand or wrong number of arguments for '" + what +
                  "'. Try CLIENT SETNAME, GETNAME, ID, INFO, LIST, SETINFO, NO-EVICT.");
}

// QUIT: OK, and the end.
void quit(const Exchange& exchange) {
  exchange.reply().simple("OK");
  exchange.conversation().close_after_reply();
}

// RESET: as if the client had just come.
void reset(const Exchange& exchange) {
  Session& session = exchange.session();
  session.version = Version::Two;
  session.name.clear();
  exchange.conversation().transaction().discard();
  exchange.conversation().set_known(exchange.surroundings().terms.passwords.empty());
  exchange.reply().simple("RESET");
}

}  // namespace penstock::wire::resp
