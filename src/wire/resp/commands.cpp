#include "wire/resp/commands.hpp"

#include "base/whole_number.hpp"

#include <algorithm>
#include <array>

namespace penstock::wire::resp {
namespace {

constexpr std::size_t kAny = SIZE_MAX;
using Kind = Command::Kind;

// In the order of their names.
constexpr std::array kCommands{
    Command{"asking", 1, 1, no_cluster, Kind::Connection},
    Command{"auth", 2, 3, auth, Kind::Connection, false, true},
    Command{"cl.throttle", 1, kAny, cl_throttle, Kind::Write,
            true},  // has its own words for misuse
    Command{"client", 2, kAny, client, Kind::Connection},
    Command{"cluster", 1, kAny, no_cluster, Kind::Connection},
    Command{"command", 1, kAny, command, Kind::Connection},
    Command{"decr", 2, 2, decr, Kind::Write, true},
    Command{"decrby", 3, 3, decrby, Kind::Write, true},
    Command{"del", 2, kAny, del, Kind::Write, true},
    Command{"discard", 1, 1, discard, Kind::Connection, false, false, true},
    Command{"echo", 2, 2, echo, Kind::Connection},
    Command{"exec", 1, 1, exec, Kind::Connection, false, false, true},
    Command{"exists", 2, kAny, exists, Kind::Read, true},
    Command{"expire", 3, 4, expire, Kind::Write, true},
    Command{"get", 2, 2, get, Kind::Read, true},
    Command{"hello", 1, kAny, hello, Kind::Connection, false, true},
    Command{"incr", 2, 2, incr, Kind::Write, true},
    Command{"incrby", 3, 3, incrby, Kind::Write, true},
    Command{"incrbyfloat", 3, 3, incrbyfloat, Kind::Write, true},
    Command{"info", 1, kAny, info, Kind::Connection},
    Command{"multi", 1, 1, multi, Kind::Connection, false, false, true},
    Command{"penstock.acquire", 5, 5, penstock_acquire, Kind::Write, true},
    Command{"penstock.cancel", 2, 2, penstock_cancel, Kind::Write},
    Command{"penstock.check", 2, kAny, penstock_check, Kind::Write},
    Command{"penstock.commit", 3, 3, penstock_commit, Kind::Write},
    Command{"penstock.release", 3, 3, penstock_release, Kind::Write, true},
    Command{"penstock.renew", 4, 4, penstock_renew, Kind::Write, true},
    Command{"penstock.reserve", 6, kAny, penstock_reserve, Kind::Write},
    Command{"pexpire", 3, 4, pexpire, Kind::Write, true},
    Command{"ping", 1, 2, ping, Kind::Connection},
    Command{"pttl", 2, 2, pttl, Kind::Read, true},
    Command{"quit", 1, kAny, quit, Kind::Connection, false, true, true},
    Command{"readonly", 1, 1, no_cluster, Kind::Connection},
    Command{"readwrite", 1, 1, no_cluster, Kind::Connection},
    Command{"reset", 1, 1, reset, Kind::Connection, false, true, true},
    Command{"select", 2, 2, select, Kind::Connection},
    Command{"throttle", 5, 6, throttle, Kind::Write, true},
    Command{"ttl", 2, 2, ttl, Kind::Read, true},
    Command{"unwatch", 1, 1, unwatch, Kind::Connection},
    Command{"watch", 2, kAny, watch, Kind::Connection, true, false, true},
};
static_assert(std::is_sorted(kCommands.begin(), kCommands.end(),
                             [](const Command& a, const Command& b) { return a.name < b.name; }));

constexpr std::size_t kLongestName = 16;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// As Redis does: 128 bytes of the command, and of its arguments.
std::string unknown_command(const Exchange& exchange) {
  constexpr std::size_t kShown = 128;
  std::string text = "ERR unknown command '";
  text += exchange.word(0).substr(0, kShown);
  text += "', with args beginning with: ";
  const std::size_t most = text.size() + kShown;
  for (std::size_t i = 1; i < exchange.size() && text.size() < most; ++i) {
    text += '\'';
    text += exchange.word(i).substr(0, most - text.size());
    text += "' ";
  }
  return text;
}

// Between MULTI and EXEC. Its reply is no answer yet, and not counted as one.
void queue_command(const Exchange& exchange) {
  Transaction& transaction = exchange.conversation().transaction();
  const Terms& terms = exchange.surroundings().terms;
  const Transaction::Limits limits{.commands = terms.most_under_way, .bytes = terms.limits.bytes};
  // what was aborted keeps nothing, and is told at EXEC
  if (transaction.state() == Transaction::State::Aborted ||
      transaction.add(exchange.words(), limits)) {
    ReplyWriter(exchange.conversation().queue().end(), exchange.session().version).simple("QUEUED");
    return;
  }
  exchange.refuse("ERR the transaction is too large: at most " + std::to_string(limits.commands) +
                  " commands and " + std::to_string(limits.bytes) + " bytes");
}

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return nullptr;
  std::array<char, kLongestName> lowered;
  std::transform(name.begin(), name.end(), lowered.begin(), small);
  const std::string_view wanted(lowered.data(), name.size());
  for (const Command& each : kCommands) {
    if (each.name.size() == wanted.size() && each.name.front() == wanted.front() &&
        each.name == wanted) {
      return &each;
    }
  }
  return nullptr;
}

void run_command(const Exchange& exchange) {
  const Command* const found = find_command(exchange.word(0));
  Transaction& transaction = exchange.conversation().transaction();
  const auto refuse = [&](const std::string& error) {
    if (transaction.is_open()) transaction.abort();
    exchange.refuse(error);
  };
  if (found == nullptr) return refuse(unknown_command(exchange));
  if (!exchange.session().is_known && !found->for_strangers) {
    return refuse("NOAUTH Authentication required.");
  }
  if (exchange.size() < found->least || exchange.size() > found->most) {
    return refuse(wrong_arity(found->name));
  }
  if (transaction.is_open() && !found->in_multi) return queue_command(exchange);
  found->run(exchange);
}

bool waits_for_others(std::span<const std::string_view> words) {
  constexpr std::size_t kQuantity = 5;  // of CL.THROTTLE
  if (is_word(words.front(), "cl.throttle")) {
    return words.size() > kQuantity && words[kQuantity].starts_with('-');
  }
  for (const std::string_view settles :
       {"penstock.reserve", "penstock.commit", "penstock.cancel"}) {
    if (is_word(words.front(), settles)) return true;
  }
  return words.size() > 2 && (is_word(words.front(), "del") || is_word(words.front(), "exists"));
}

bool is_word(std::string_view text, std::string_view wanted) {
  return std::equal(text.begin(), text.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return small(a) == b; });
}

std::string in_small(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), small);
  return lowered;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  return base::whole_number<std::int64_t>(text);
}

std::string wrong_arity(std::string_view command) {
  return "ERR wrong number of arguments for '" + std::string(command) + "' command";
}

}  // namespace penstock::wire::resp
