// Named numbers that limit nothing. A name has an integer and a decimal part, kept apart, which
// INCR and INCRBYFLOAT add to; readers see their sum.
#include "penstock/decimal.hpp"
#include "wire/resp/commands.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace penstock::wire::resp {
namespace {

using CounterKind = store::CounterKind;
using Counter = store::CounterValues;
using std::chrono::milliseconds;

constexpr std::string_view kNoInteger = "ERR value is not an integer or out of range";
constexpr std::size_t kMostNames = 128;  // of one command: each is a question to the store
constexpr milliseconds kLongestLifetime = std::chrono::duration_cast<milliseconds>(Days{36'500});

// The sum of both parts in decimal; it may exceed the range of either.
std::string sum_of(std::int64_t integer, std::int64_t nanos) {
  __extension__ using Wide = __int128;
  constexpr Wide kUnit = Decimal::kNanosPerUnit;
  const Wide sum = integer * kUnit + nanos;
  const Wide size = sum < 0 ? -sum : sum;
  const std::string whole = std::to_string(static_cast<std::uint64_t>(size / kUnit));
  const auto places = static_cast<std::int64_t>(size % kUnit);
  std::string text = sum < 0 ? "-" + whole : whole;
  if (places > 0) text += to_string(Decimal::from_nanos(places)).substr(1);  // without its 0
  return text;
}

void write_sum(const DeferredReply& deferred, std::int64_t integer, std::int64_t nanos) {
  deferred.reply([&](ReplyWriter& reply) { reply.bulk(sum_of(integer, nanos)); });
}

void add(const CommandContext& context, std::int64_t delta) {
  context.stores().counters.add(
      CounterKind::Integer, std::string(context.word(1)), delta, std::nullopt, context.deadline(),
      [deferred = context.defer()](const Result<std::int64_t>& value) {
        if (!value) return deferred.fail(value.error());
        deferred.reply([&](ReplyWriter& reply) { reply.integer(*value); });
      });
}

// Both answers that INCRBYFLOAT needs.
struct Parts {
  DeferredReply deferred;
  std::int64_t integer = 0;
  std::int64_t nanos = 0;
  std::optional<Error> failure{};
  int missing = 2;

  void note(std::int64_t& part, const Result<std::int64_t>& said) {
    if (said) {
      part = *said;
    } else {
      failure = said.error();
    }
    if (--missing > 0) return;
    if (failure) return deferred.fail(*failure);
    write_sum(deferred, integer, nanos);
  }
};

// `write` writes the reply from the counter.
template <class Write>
void look(const CommandContext& context, Write write) {
  context.stores().counters.read_counter(
      std::string(context.word(1)), context.deadline(),
      [deferred = context.defer(), write](const Result<Counter>& counter) {
        if (!counter) return deferred.fail(counter.error());
        write(deferred, *counter);
      });
}

bool is_there(const Counter& counter) { return counter.integer || counter.decimal; }

// The number of names for which the store says yes; `ask` queries one.
template <class Ask>
void count_names(const CommandContext& context, const Ask& ask) {
  struct Count {
    DeferredReply deferred;
    std::int64_t found = 0;
    std::size_t missing = 0;
    std::optional<Error> failure{};
  };
  if (context.size() - 1 > kMostNames) {
    return context.error("ERR " + std::to_string(context.size() - 1) + " names; the most is " +
                         std::to_string(kMostNames));
  }
  const auto count =
      std::make_shared<Count>(Count{.deferred = context.defer(), .missing = context.size() - 1});
  for (const std::string_view name : context.words().subspan(1)) {
    ask(std::string(name), [count](const Result<bool>& found) {
      if (!found) count->failure = found.error();
      if (found && *found) ++count->found;
      if (--count->missing > 0) return;
      if (count->failure) return count->deferred.fail(*count->failure);
      count->deferred.reply([&](ReplyWriter& reply) { reply.integer(count->found); });
    });
  }
}

// -2 for a name that does not exist, -1 for one without a TTL; else the TTL in these units, rounded
// as Redis does.
void tell_lifetime(const CommandContext& context, milliseconds unit) {
  look(context, [unit](const DeferredReply& deferred, const Counter& counter) {
    std::int64_t left = -2;
    if (is_there(counter)) left = -1;
    if (is_there(counter) && counter.lifetime) {
      const auto rounded = std::chrono::ceil<milliseconds>(*counter.lifetime);
      left = (rounded + unit / 2) / unit;
    }
    deferred.reply([&](ReplyWriter& reply) { reply.integer(left); });
  });
}

// EXPIRE and PEXPIRE name time [NX]: 1 when it was set, 0 when there is no such name, or with NX
// one that has an end already. A time that is not above zero removes the name.
void set_lifetime(const CommandContext& context, std::string_view command, milliseconds unit) {
  const std::optional<std::int64_t> amount = parse_number(context.word(2));
  if (!amount) return context.error(kNoInteger);
  if (*amount > kLongestLifetime / unit) {
    return context.error("ERR invalid expire time in '" + std::string(command) + "' command");
  }
  auto condition = store::ExpireCondition::Always;
  if (context.size() == 4) {
    if (!equals_ignoring_case(context.word(3), "nx")) {
      return context.error("ERR Unsupported option " + std::string(context.word(3)) +
                           "; NX is supported");
    }
    condition = store::ExpireCondition::IfPersistent;
  }
  const auto answered = [deferred = context.defer()](const Result<bool>& done) {
    if (!done) return deferred.fail(done.error());
    deferred.reply([&](ReplyWriter& reply) { reply.integer(*done ? 1 : 0); });
  };
  std::string name(context.word(1));
  if (*amount <= 0 && condition == store::ExpireCondition::IfPersistent) {
    // expires at once, unless it has a TTL
    context.stores().counters.expire(std::move(name), milliseconds{1}, condition,
                                     context.deadline(), answered);
  } else if (*amount <= 0) {
    context.stores().counters.remove(std::move(name), context.deadline(), answered);
  } else {
    context.stores().counters.expire(std::move(name), *amount * unit, condition, context.deadline(),
                                     answered);
  }
}

}  // namespace

// INCR and DECR name, INCRBY and DECRBY name delta: the integer afterwards.
void incr(const CommandContext& context) { add(context, 1); }
void decr(const CommandContext& context) { add(context, -1); }

void incrby(const CommandContext& context) {
  const std::optional<std::int64_t> delta = parse_number(context.word(2));
  if (!delta) return context.error(kNoInteger);
  add(context, *delta);
}

void decrby(const CommandContext& context) {
  const std::optional<std::int64_t> delta = parse_number(context.word(2));
  if (!delta) return context.error(kNoInteger);
  if (*delta == INT64_MIN) return context.error("ERR decrement would overflow");
  add(context, -*delta);
}

// INCRBYFLOAT name delta: the sum of both parts afterwards, as text. Exact, to nine places.
void incrbyfloat(const CommandContext& context) {
  const Result<Decimal> delta = Decimal::parse(context.word(2));
  if (!delta) return context.error("ERR value is not a valid float: " + delta.error().detail);
  const auto parts = std::make_shared<Parts>(Parts{.deferred = context.defer()});
  const std::string name(context.word(1));
  const base::Deadline deadline = context.deadline();
  context.stores().counters.add(
      CounterKind::Decimal, name, delta->nanos(), std::nullopt, deadline,
      [parts](const Result<std::int64_t>& value) { parts->note(parts->nanos, value); });
  context.stores().counters.get(
      CounterKind::Integer, name, deadline,
      [parts](const Result<std::int64_t>& value) { parts->note(parts->integer, value); });
}

// GET name: the sum of both parts as text; null when neither is there.
void get(const CommandContext& context) {
  look(context, [](const DeferredReply& deferred, const Counter& counter) {
    if (is_there(counter)) {
      return write_sum(deferred, counter.integer.value_or(0), counter.decimal.value_or(0));
    }
    deferred.reply([](ReplyWriter& reply) { reply.null(); });
  });
}

// DEL name …: how many there were.
void del(const CommandContext& context) {
  count_names(context, [&](const std::string& name, auto answered) {
    context.stores().counters.remove(name, context.deadline(), std::move(answered));
  });
}

// EXISTS name …: how many there are; a name that is given twice counts twice.
void exists(const CommandContext& context) {
  count_names(context, [&](const std::string& name, auto answered) {
    context.stores().counters.read_counter(
        name, context.deadline(), [answered = std::move(answered)](const Result<Counter>& counter) {
          if (!counter) return answered(counter.error());
          answered(is_there(*counter));
        });
  });
}

void expire(const CommandContext& context) {
  set_lifetime(context, "expire", std::chrono::seconds{1});
}
void pexpire(const CommandContext& context) { set_lifetime(context, "pexpire", milliseconds{1}); }

void ttl(const CommandContext& context) { tell_lifetime(context, std::chrono::seconds{1}); }
void pttl(const CommandContext& context) { tell_lifetime(context, milliseconds{1}); }

}  // namespace penstock::wire::resp
