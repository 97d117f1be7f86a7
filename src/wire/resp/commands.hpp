#pragma once

#include "wire/resp/exchange.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::wire::resp {

// A command that clients can send.
struct Command {
  std::string_view name;  // in small letters
  std::size_t least;      // words, its name included
  std::size_t most;
  void (*run)(const Exchange& exchange);
  enum class Kind : std::uint8_t { Read, Write, Connection } kind;
  bool has_key = false;        // its second word
  bool for_strangers = false;  // before AUTH
  bool in_multi = false;       // runs between MULTI and EXEC, where others are queued
};

[[nodiscard]] std::span<const Command> all_commands();
// In any case; null for none.
[[nodiscard]] const Command* find_command(std::string_view name);

// Runs one command: exactly one reply, now or later.
void run_command(const Exchange& exchange);

// One for each, with its contract above it.
void cl_throttle(const Exchange& exchange);
void throttle(const Exchange& exchange);
void penstock_check(const Exchange& exchange);

void penstock_reserve(const Exchange& exchange);
void penstock_commit(const Exchange& exchange);
void penstock_cancel(const Exchange& exchange);
void penstock_acquire(const Exchange& exchange);
void penstock_renew(const Exchange& exchange);
void penstock_release(const Exchange& exchange);

void incr(const Exchange& exchange);
void decr(const Exchange& exchange);
void incrby(const Exchange& exchange);
void decrby(const Exchange& exchange);
void incrbyfloat(const Exchange& exchange);
void get(const Exchange& exchange);
void del(const Exchange& exchange);
void exists(const Exchange& exchange);
void expire(const Exchange& exchange);
void pexpire(const Exchange& exchange);
void ttl(const Exchange& exchange);
void pttl(const Exchange& exchange);

void multi(const Exchange& exchange);
void exec(const Exchange& exchange);
void discard(const Exchange& exchange);
void watch(const Exchange& exchange);
void unwatch(const Exchange& exchange);
void no_cluster(const Exchange& exchange);

void ping(const Exchange& exchange);
void echo(const Exchange& exchange);
void auth(const Exchange& exchange);
void hello(const Exchange& exchange);
void select(const Exchange& exchange);
void client(const Exchange& exchange);
void command(const Exchange& exchange);
void info(const Exchange& exchange);
void quit(const Exchange& exchange);
void reset(const Exchange& exchange);

// Whether a command is begun only when all before it are answered: what gives back, which the store
// would do before the checks that it collects, reservations, which take several steps, and commands
// that ask it about many names.
[[nodiscard]] bool waits_for_others(std::span<const std::string_view> words);

// Texts and numbers of clients.
[[nodiscard]] bool is_word(std::string_view text, std::string_view small);  // in any case
[[nodiscard]] std::string in_small(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);
[[nodiscard]] std::string wrong_arity(std::string_view command);

}  // namespace penstock::wire::resp
