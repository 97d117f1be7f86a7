#pragma once

#include "base/text.hpp"
#include "wire/resp/command_context.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::wire::resp {

// A command that clients can send.
struct Command {
  std::string_view name;  // in small letters
  std::size_t min_words;  // words, its name included
  std::size_t max_words;
  void (*run)(const CommandContext& context);
  enum class Kind : std::uint8_t { Read, Write, Connection } kind;
  enum Flag : std::uint8_t {
    HasKey = 1,       // its second word
    BeforeAuth = 2,   // is allowed before AUTH
    RunsInMulti = 4,  // runs between MULTI and EXEC, where others are queued
  };
  unsigned flags = 0;

  [[nodiscard]] constexpr bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
};

[[nodiscard]] std::span<const Command> all_commands();
// In any case; null for none.
[[nodiscard]] const Command* find_command(std::string_view name);

// Runs one command: exactly one reply, now or later.
void run_command(const CommandContext& context);

// One for each, with its contract above it.
void cl_throttle(const CommandContext& context);
void throttle(const CommandContext& context);
void penstock_check(const CommandContext& context);

void penstock_reserve(const CommandContext& context);
void penstock_commit(const CommandContext& context);
void penstock_cancel(const CommandContext& context);
void penstock_acquire(const CommandContext& context);
void penstock_renew(const CommandContext& context);
void penstock_release(const CommandContext& context);

void incr(const CommandContext& context);
void decr(const CommandContext& context);
void incrby(const CommandContext& context);
void decrby(const CommandContext& context);
void incrbyfloat(const CommandContext& context);
void get(const CommandContext& context);
void del(const CommandContext& context);
void exists(const CommandContext& context);
void expire(const CommandContext& context);
void pexpire(const CommandContext& context);
void ttl(const CommandContext& context);
void pttl(const CommandContext& context);

void multi(const CommandContext& context);
void exec(const CommandContext& context);
void discard(const CommandContext& context);
void watch(const CommandContext& context);
void unwatch(const CommandContext& context);
void cluster_disabled(const CommandContext& context);

void ping(const CommandContext& context);
void echo(const CommandContext& context);
void auth(const CommandContext& context);
void hello(const CommandContext& context);
void select(const CommandContext& context);
void client(const CommandContext& context);
void command(const CommandContext& context);
void info(const CommandContext& context);
void quit(const CommandContext& context);
void reset(const CommandContext& context);

// Whether a command starts only after all earlier replies: refunds, which the store would run
// before the checks that it batches, reservations, which take several steps, and commands about
// many names.
[[nodiscard]] bool waits_for_pending_replies(std::span<const std::string_view> words);

// Texts and numbers of clients.
using base::equals_ignoring_case;
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);
[[nodiscard]] std::string wrong_arity(std::string_view command);

}  // namespace penstock::wire::resp
