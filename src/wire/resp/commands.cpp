#include "wire/resp/commands.hpp"

#include <algorithm>
#include <array>

namespace penstock::wire::resp {
namespace {

constexpr std::size_t kAny = SIZE_MAX;
using Kind = Command::Kind;
constexpr auto kHasKey = Command::HasKey;
constexpr auto kBeforeAuth = Command::BeforeAuth;
constexpr auto kRunsInMulti = Command::RunsInMulti;

// In the order of their names.
constexpr std::array kCommands{
    Command{"asking", 1, 1, cluster_disabled, Kind::Connection},
    Command{"auth", 2, 3, auth, Kind::Connection, kBeforeAuth},
    Command{"cl.throttle", 1, kAny, cl_throttle, Kind::Write,
            kHasKey},  // has its own words for misuse
    Command{"client", 2, kAny, client, Kind::Connection},
    Command{"cluster", 1, kAny, cluster_disabled, Kind::Connection},
    Command{"command", 1, kAny, command, Kind::Connection},
    Command{"decr", 2, 2, decr, Kind::Write, kHasKey},
    Command{"decrby", 3, 3, decrby, Kind::Write, kHasKey},
    Command{"del", 2, kAny, del, Kind::Write, kHasKey},
    Command{"discard", 1, 1, discard, Kind::Connection, kRunsInMulti},
    Command{"echo", 2, 2, echo, Kind::Connection},
    Command{"exec", 1, 1, exec, Kind::Connection, kRunsInMulti},
    Command{"exists", 2, kAny, exists, Kind::Read, kHasKey},
    Command{"expire", 3, 4, expire, Kind::Write, kHasKey},
    Command{"get", 2, 2, get, Kind::Read, kHasKey},
    Command{"hello", 1, kAny, hello, Kind::Connection, kBeforeAuth},
    Command{"incr", 2, 2, incr, Kind::Write, kHasKey},
    Command{"incrby", 3, 3, incrby, Kind::Write, kHasKey},
    Command{"incrbyfloat", 3, 3, incrbyfloat, Kind::Write, kHasKey},
    Command{"info", 1, kAny, info, Kind::Connection},
    Command{"multi", 1, 1, multi, Kind::Connection, kRunsInMulti},
    Command{"penstock.acquire", 5, 5, penstock_acquire, Kind::Write, kHasKey},
    Command{"penstock.cancel", 2, 2, penstock_cancel, Kind::Write},
    Command{"penstock.check", 2, kAny, penstock_check, Kind::Write},
    Command{"penstock.commit", 3, 3, penstock_commit, Kind::Write},
    Command{"penstock.release", 3, 3, penstock_release, Kind::Write, kHasKey},
    Command{"penstock.renew", 4, 4, penstock_renew, Kind::Write, kHasKey},
    Command{"penstock.reserve", 6, kAny, penstock_reserve, Kind::Write},
    Command{"pexpire", 3, 4, pexpire, Kind::Write, kHasKey},
    Command{"ping", 1, 2, ping, Kind::Connection},
    Command{"pttl", 2, 2, pttl, Kind::Read, kHasKey},
    Command{"quit", 1, kAny, quit, Kind::Connection, kBeforeAuth | kRunsInMulti},
    Command{"readonly", 1, 1, cluster_disabled, Kind::Connection},
    Command{"readwrite", 1, 1, cluster_disabled, Kind::Connection},
    Command{"reset", 1, 1, reset, Kind::Connection, kBeforeAuth | kRunsInMulti},
    Command{"select", 2, 2, select, Kind::Connection},
    Command{"throttle", 5, 6, throttle, Kind::Write, kHasKey},
    Command{"ttl", 2, 2, ttl, Kind::Read, kHasKey},
    Command{"unwatch", 1, 1, unwatch, Kind::Connection},
    Command{"watch", 2, kAny, watch, Kind::Connection, kHasKey | kRunsInMulti},
};
static_assert(std::is_sorted(kCommands.begin(), kCommands.end(),
                             [](const Command& a, const Command& b) { return a.name < b.name; }));

constexpr std::size_t kLongestName = 16;

// As Redis does: 128 bytes of the command, and of its arguments.
std::string unknown_command(const CommandContext& context) {
  constexpr std::size_t kShown = 128;
  std::string text = "ERR unknown command '";
  text += context.word(0).substr(0, kShown);
  text += "', with args beginning with: ";
  const std::size_t most = text.size() + kShown;
  for (std::size_t i = 1; i < context.size() && text.size() < most; ++i) {
    text += '\'';
    text += context.word(i).substr(0, most - text.size());
    text += "' ";
  }
  return text;
}

// Between MULTI and EXEC. Its reply is no answer yet, and not counted as one.
void queue_command(const CommandContext& context) {
  Transaction& transaction = context.session().transaction();
  const ServerSettings& settings = context.server_context().settings;
  const Transaction::Limits limits{.commands = settings.max_in_flight,
                                   .bytes = settings.limits.bytes};
  // an aborted transaction keeps no commands; EXEC reports it
  if (transaction.state() == Transaction::State::Aborted ||
      transaction.add(context.words(), limits)) {
    ReplyWriter(context.session().queue().end(), context.client_info().version).simple("QUEUED");
    return;
  }
  context.error("ERR the transaction is too large: at most " + std::to_string(limits.commands) +
                " commands and " + std::to_string(limits.bytes) + " bytes");
}

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return nullptr;
  std::array<char, kLongestName> lowered;
  std::transform(name.begin(), name.end(), lowered.begin(), base::lower);
  const std::string_view wanted(lowered.data(), name.size());
  for (const Command& each : kCommands) {
    if (each.name.size() == wanted.size() && each.name.front() == wanted.front() &&
        each.name == wanted) {
      return &each;
    }
  }
  return nullptr;
}

void run_command(const CommandContext& context) {
  const Command* const found = find_command(context.word(0));
  Transaction& transaction = context.session().transaction();
  const auto refuse = [&](const std::string& error) {
    if (transaction.is_open()) transaction.abort();
    context.error(error);
  };
  if (found == nullptr) return refuse(unknown_command(context));
  if (!context.client_info().is_authenticated && !found->has(Command::BeforeAuth)) {
    return refuse("NOAUTH Authentication required.");
  }
  if (context.size() < found->min_words || context.size() > found->max_words) {
    return refuse(wrong_arity(found->name));
  }
  if (transaction.is_open() && !found->has(Command::RunsInMulti)) return queue_command(context);
  found->run(context);
}

bool waits_for_pending_replies(std::span<const std::string_view> words) {
  constexpr std::size_t kQuantity = 5;  // of CL.THROTTLE
  if (equals_ignoring_case(words.front(), "cl.throttle")) {
    return words.size() > kQuantity && words[kQuantity].starts_with('-');
  }
  for (const std::string_view settles :
       {"penstock.reserve", "penstock.commit", "penstock.cancel"}) {
    if (equals_ignoring_case(words.front(), settles)) return true;
  }
  return words.size() > 2 && (equals_ignoring_case(words.front(), "del") ||
                              equals_ignoring_case(words.front(), "exists"));
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  return base::parse_number<std::int64_t>(text);
}

std::string wrong_arity(std::string_view command) {
  return "ERR wrong number of arguments for '" + std::string(command) + "' command";
}

}  // namespace penstock::wire::resp
