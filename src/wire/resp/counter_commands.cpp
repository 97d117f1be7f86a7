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

using CounterKind = store::Store::CounterKind;
using Counter = store::Store::Counter;
using std::chrono::milliseconds;

constexpr std::string_view kNoInteger = "ERR value is not an integer or out of range";
constexpr std::size_t kMostNames = 128;  // of one command: each is a question to the store
constexpr milliseconds kLongestLifetime = std::chrono::duration_cast<milliseconds>(Days{36'500});

// The sum of both parts as people write it; it may be beyond what either holds.
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

void write_sum(const Later& later, std::int64_t integer, std::int64_t nanos) {
  later.reply([&](ReplyWriter& reply) { reply.bulk(sum_of(integer, nanos)); });
}

void add(const Exchange& exchange, std::int64_t delta) {
  exchange.store().add(CounterKind::Integer, std::string(exchange.word(1)), delta, std::nullopt,
                       exchange.deadline(),
                       [later = exchange.later()](const Result<std::int64_t>& value) {
                         if (!value) return later.fail(value.error());
                         later.reply([&](ReplyWriter& reply) { reply.integer(*value); });
                       });
}

// Both answers that INCRBYFLOAT needs.
struct Parts {
  Later later;
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
    if (failure) return later.fail(*failure);
    write_sum(later, integer, nanos);
  }
};

// `write` says what a client hears about the counter.
template <class Write>
void look(const Exchange& exchange, Write write) {
  exchange.store().look(std::string(exchange.word(1)), exchange.deadline(),
                        [later = exchange.later(), write](const Result<Counter>& counter) {
                          if (!counter) return later.fail(counter.error());
                          write(later, *counter);
                        });
}

bool is_there(const Counter& counter) { return counter.integer || counter.decimal; }

// How many of the names that are given; `ask` asks the store about one.
template <class Ask>
void count_names(const Exchange& exchange, const Ask& ask) {
  struct Count {
    Later later;
    std::int64_t found = 0;
    std::size_t missing = 0;
    std::optional<Error> failure{};
  };
  if (exchange.size() - 1 > kMostNames) {
    return exchange.refuse("ERR " + std::to_string(exchange.size() - 1) + " names; the most is " +
                           std::to_string(kMostNames));
  }
  const auto count =
      std::make_shared<Count>(Count{.later = exchange.later(), .missing = exchange.size() - 1});
  for (const std::string_view name : exchange.words().subspan(1)) {
    ask(std::string(name), [count](const Result<bool>& found) {
      if (!found) count->failure = found.error();
      if (found && *found) ++count->found;
      if (--count->missing > 0) return;
      if (count->failure) return count->later.fail(*count->failure);
      count->later.reply([&](ReplyWriter& reply) { reply.integer(count->found); });
    });
  }
}

// -2 for a name that is not there, -1 for one without an end; else what is left, in these units,
// rounded as Redis does.
void tell_lifetime(const Exchange& exchange, milliseconds unit) {
  look(exchange, [unit](const Later& later, const Counter& counter) {
    std::int64_t left = -2;
    if (is_there(counter)) left = -1;
    if (is_there(counter) && counter.lifetime) {
      const auto rounded = std::chrono::ceil<milliseconds>(*counter.lifetime);
      left = (rounded + unit / 2) / unit;
    }
    later.reply([&](ReplyWriter& reply) { reply.integer(left); });
  });
}

// EXPIRE and PEXPIRE name time [NX]: 1 when it was set, 0 when there is no such name, or with NX
// one that has an end already. A time that is not above zero removes the name.
void set_lifetime(const Exchange& exchange, std::string_view command, milliseconds unit) {
  const std::optional<std::int64_t> amount = whole_number(exchange.word(2));
  if (!amount) return exchange.refuse(kNoInteger);
  if (*amount > kLongestLifetime / unit) {
    return exchange.refuse("ERR invalid expire time in '" + std::string(command) + "' command");
  }
  auto renewal = store::Store::Renewal::Always;
  if (exchange.size() == 4) {
    if (!is_word(exchange.word(3), "nx")) {
      return exchange.refuse("ERR Unsupported option " + std::string(exchange.word(3)) +
                             "; NX is supported");
    }
    renewal = store::Store::Renewal::IfEndless;
  }
  const auto answered = [later = exchange.later()](const Result<bool>& done) {
    if (!done) return later.fail(done.error());
    later.reply([&](ReplyWriter& reply) { reply.integer(*done ? 1 : 0); });
  };
  std::string name(exchange.word(1));
  if (*amount <= 0 && renewal == store::Store::Renewal::IfEndless) {
    // gone at once, unless it has an end
    exchange.store().expire(std::move(name), milliseconds{1}, renewal, exchange.deadline(),
                            answered);
  } else if (*amount <= 0) {
    exchange.store().remove(std::move(name), exchange.deadline(), answered);
  } else {
    exchange.store().expire(std::move(name), *amount * unit, renewal, exchange.deadline(),
                            answered);
  }
}

}  // namespace

// INCR and DECR name, INCRBY and DECRBY name delta: the integer afterwards.
void incr(const Exchange& exchange) { add(exchange, 1); }
void decr(const Exchange& exchange) { add(exchange, -1); }

void incrby(const Exchange& exchange) {
  const std::optional<std::int64_t> delta = whole_number(exchange.word(2));
  if (!delta) return exchange.refuse(kNoInteger);
  add(exchange, *delta);
}

void decrby(const Exchange& exchange) {
  const std::optional<std::int64_t> delta = whole_number(exchange.word(2));
  if (!delta) return exchange.refuse(kNoInteger);
  if (*delta == INT64_MIN) return exchange.refuse("ERR decrement would overflow");
  add(exchange, -*delta);
}

// INCRBYFLOAT name delta: the sum of both parts afterwards, as text. Exact, to nine places.
void incrbyfloat(const Exchange& exchange) {
  const Result<Decimal> delta = Decimal::parse(exchange.word(2));
  if (!delta) return exchange.refuse("ERR value is not a valid float: " + delta.error().detail);
  const auto parts = std::make_shared<Parts>(Parts{.later = exchange.later()});
  const std::string name(exchange.word(1));
  const base::Deadline deadline = exchange.deadline();
  exchange.store().add(
      CounterKind::Decimal, name, delta->nanos(), std::nullopt, deadline,
      [parts](const Result<std::int64_t>& value) { parts->note(parts->nanos, value); });
  exchange.store().get(
      CounterKind::Integer, name, deadline,
      [parts](const Result<std::int64_t>& value) { parts->note(parts->integer, value); });
}

// GET name: the sum of both parts as text; null when neither is there.
void get(const Exchange& exchange) {
  look(exchange, [](const Later& later, const Counter& counter) {
    if (is_there(counter)) {
      return write_sum(later, counter.integer.value_or(0), counter.decimal.value_or(0));
    }
    later.reply([](ReplyWriter& reply) { reply.null(); });
  });
}

// DEL name …: how many there were.
void del(const Exchange& exchange) {
  count_names(exchange, [&](const std::string& name, auto answered) {
    exchange.store().remove(name, exchange.deadline(), std::move(answered));
  });
}

// EXISTS name …: how many there are; a name that is given twice counts twice.
void exists(const Exchange& exchange) {
  count_names(exchange, [&](const std::string& name, auto answered) {
    exchange.store().look(name, exchange.deadline(),
                          [answered = std::move(answered)](const Result<Counter>& counter) {
                            if (!counter) return answered(counter.error());
                            answered(is_there(*counter));
                          });
  });
}

void expire(const Exchange& exchange) { set_lifetime(exchange, "expire", std::chrono::seconds{1}); }
void pexpire(const Exchange& exchange) { set_lifetime(exchange, "pexpire", milliseconds{1}); }

void ttl(const Exchange& exchange) { tell_lifetime(exchange, std::chrono::seconds{1}); }
void pttl(const Exchange& exchange) { tell_lifetime(exchange, milliseconds{1}); }

}  // namespace penstock::wire::resp
