// The messages about mistakes, word for word.
#include "rules/model/configuration.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::rules {
namespace {

struct Mistake {
  std::string_view text;
  std::string_view diagnostics_text;
};

void expect(const Mistake& mistake) {
  std::string all;
  for (const Diagnostic& diagnostic : load_text(mistake.text, "p.yaml").diagnostics) {
    all += to_string(diagnostic) + "\n";
  }
  EXPECT_EQ(all, mistake.diagnostics_text) << mistake.text;
}

TEST(ConfigurationErrors, InvalidYamlIsReported) {
  expect({"server: {workers: 2", "p.yaml:1:1: error: not YAML: end of map flow not found\n"});
  expect({"- a", "p.yaml:1:1: error: expected a map, found a list\n"});
  expect({"serve: {}\nstores: {}\n",
          "p.yaml:1:1: error: unknown key 'serve'; did you mean 'server'?\n"
          "p.yaml:2:1: error: unknown key 'stores'; did you mean 'store'?\n"});
  expect({"a: *b", "p.yaml:1:4: error: not YAML: the referenced anchor is not defined\n"});
  expect({"a: \x01", "p.yaml:1:1: error: unknown key 'a'\n"});
}

TEST(ConfigurationErrors, ATabInTheIndentationIsReportedAsSuch) {
  constexpr std::string_view kTab = "a tab in the indentation; YAML allows only spaces there\n";
  expect({"server:\n\tworkers: 1\n", "p.yaml:2:1: error: " + std::string(kTab)});
  const std::string rules = "domains:\n  api:\n    rules:\n      -";
  expect({rules + " name: a\n\tlimit: 5/m\n", "p.yaml:5:1: error: " + std::string(kTab)});
  expect({rules + " name: a\n      \tlimit: 5/m\n", "p.yaml:5:7: error: " + std::string(kTab)});
  expect({rules + "\tname: a\n", "p.yaml:4:8: error: " + std::string(kTab)});
}

TEST(ConfigurationErrors, InvalidModesAreReported) {
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, mode: lese, lease_lifetime: 5ms}]}}",
          "p.yaml:1:51: error: mode: expected one of exact, lease, lease_strict, adaptive or "
          "local, found \"lese\"; did you mean 'lease'?\n"
          "p.yaml:1:73: error: lease_lifetime: expected a time such as 250ms, 10s, 5m, 2h or "
          "1d, from 10ms to 10s, found \"5ms\"\n"});
  expect(
      {"domains: {a: {rules: [{name: x, limit: 1/s, lease_lifetime: 1s}, "
       "{name: y, limit: 1/s, mode: lease, share: nodes}]}}",
       "p.yaml:1:61: error: lease_lifetime: \"1s\" has no effect in rule \"x\" with mode "
       "exact; it needs mode: lease, lease_strict or adaptive\n"
       "p.yaml:1:108: error: share: \"nodes\" has no effect in rule \"y\" with mode lease; "
       "it needs mode: local\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 5/d sliding_log, mode: lease_strict}]}}",
          "p.yaml:1:63: error: mode: lease_strict cannot hold for rule \"x\" with limit \"5/d "
          "sliding_log\": sliding_log counts each unit when it is spent, and those of a lease are "
          "spent later; use mode: exact, or an algorithm that lease_strict can keep: token_bucket, "
          "gcra, fixed_window, anchored_window or sub_windows\n"});
  expect(
      {"domains:\n  a:\n    mode: adaptive\n    rules:\n"
       "    - {name: x, limits: {s: 1/s, d: 5/d sliding_counter}}\n",
       "p.yaml:5:7: error: mode: adaptive, which the domain says, cannot hold for rule \"x\" "
       "with limit \"5/d sliding_counter\": sliding_counter counts each unit when it is spent, "
       "and those of a lease are spent later; use mode: exact, or an algorithm that adaptive can "
       "keep: token_bucket, gcra, fixed_window, anchored_window or sub_windows\n"});
  expect(
      {"maps: {m: {values: {k: 1/s, l: 1/s sliding_log}}}\ndomains: {a: {rules: [{name: x, "
       "mode: lease, limit: 1/s, overrides: {map: m, by: u}}]}}",
       "p.yaml:2:69: error: overrides: value of 'l': mode: lease cannot hold for \"1/s "
       "sliding_log\": sliding_log counts each unit when it is spent, and those of a lease are "
       "spent later; use mode: exact, or an algorithm that lease can keep: token_bucket, gcra, "
       "fixed_window, anchored_window or sub_windows\n"});
  expect({"domains: {a: {rules: [{name: x, unlimited: true, mode: lease}]}}",
          "p.yaml:1:56: warning: mode means nothing for a rule without a limit\n"});
}

TEST(ConfigurationErrors, InvalidSettingsAreReported) {
  expect({"server: {listen: 8080, admin: localhost, workers: many}",
          "p.yaml:1:18: error: listen: expected an address such as 127.0.0.1:8080 or [::1]:8080, "
          "found \"8080\"\n"
          "p.yaml:1:31: error: admin: expected an address such as 127.0.0.1:8080 or [::1]:8080, "
          "found \"localhost\"\n"
          "p.yaml:1:51: error: workers: expected a whole number from 0 to 1024, found \"many\"\n"});
  expect(
      {"server:\n  listen: []\n  headers: [draft-8, off]\n  trusted_proxies: [10.0.0.1/8]\n",
       "p.yaml:2:11: error: listen: no address at all\n"
       "p.yaml:3:13: error: headers: expected one of off, x-ratelimit, x-ratelimit-unix, draft-06, draft-07 or "
       "draft-08, found \"draft-8\"; did you mean 'draft-08'?\n"
       "p.yaml:3:22: error: headers: off stands alone, not in a list\n"
       "p.yaml:4:21: error: trusted_proxies: expected a network such as 10.0.0.0/8 or "
       "2001:db8::/32, found \"10.0.0.1/8\"\n"});
  expect({"server: {idle_timeout: 10, tls: {key: x}, forward_auth: {deny_status: 200}}",
          "p.yaml:1:24: error: idle_timeout: expected a time such as 250ms, 10s, 5m, 2h or 1d, "
          "from 1ms to 1d, found \"10\"\n"
          "p.yaml:1:33: error: key 'certificate' is missing\n"
          "p.yaml:1:71: error: deny_status: expected a whole number from 400 to 599, found "
          "\"200\"\n"});
  expect({"server: {token: a, token_file: b}",
          "p.yaml:1:32: error: give either token or token_file\n"});
  expect({"server: {token: [a, '']}", "p.yaml:1:21: error: token: expected a text, found \"\"\n"});
  expect({"server: {tokens: [a]}",
          "p.yaml:1:18: error: tokens: expected names and tokens, such as {alice: SECRET}, found a "
          "list\n"});
  expect({"server: {tokens: {'a b': x, local: y, c: ''}}",
          "p.yaml:1:19: error: tokens: expected a name of at most 64 letters, digits, '.', '-', "
          "'_' or '@', found \"a b\"\n"
          "p.yaml:1:29: error: tokens: \"local\" is the name of calls without a token\n"
          "p.yaml:1:42: error: c: expected a text, found \"\"\n"});
  expect({"server: {shutdown_delay: 2d}",
          "p.yaml:1:26: error: shutdown_delay: expected a time such as 250ms, 10s, 5m, 2h or 1d, "
          "from 0ms to 1d, found \"2d\"\n"});
  expect({"server: {token_file: /nonexistent/token}",
          "p.yaml:1:22: error: token_file: /nonexistent/token cannot be read: No such file or "
          "directory\n"});
  expect({"log: {level: verbose, format: xml}",
          "p.yaml:1:14: error: level: expected one of debug, info, warning or error, found "
          "\"verbose\"\n"
          "p.yaml:1:31: error: format: expected text or json, found \"xml\"\n"});
  expect({"store: {url: http://user:password@host, timeout: 0ms}",
          "p.yaml:1:14: error: url: expected memory://, redis://, rediss://, redis+unix://, "
          "redis-sentinel:// or redis-cluster:// at its beginning\n"
          "p.yaml:1:50: error: timeout: expected a time such as 250ms, 10s, 5m, 2h or 1d, from 1ms "
          "to 1m, found \"0ms\"\n"});
  expect({"store: {audit_interval: never}",
          "p.yaml:1:25: error: audit_interval: expected a time such as 250ms, 10s, 5m, 2h or 1d, "
          "from 1s to 7d, found \"never\"\n"});
  expect({"store: {breaker_min_pause: 5s, breaker_max_pause: 1s}",
          "p.yaml:1:8: error: store: breaker_min_pause 5s is above breaker_max_pause 1s\n"});
  expect({"nodes: some",
          "p.yaml:1:8: error: nodes: expected auto or a whole number from 1 to 10000, found "
          "\"some\"\n"});
  expect({"nodes: [1]",
          "p.yaml:1:8: error: nodes: expected auto or a whole number from 1 to 10000, found a "
          "list\n"});
  expect(
      {"maps: {a: {}, b: {file: /nonexistent/map.csv}, c: {values: {x: [1]}}}",
       "p.yaml:1:8: error: a map has either file or values\n"
       "p.yaml:1:25: error: file: /nonexistent/map.csv cannot be read: No such file or directory\n"
       "p.yaml:1:64: error: x: expected a text, found a list\n"});
}

TEST(ConfigurationErrors, InvalidRulesAreReported) {
  expect({"domains: {a: {rules: [{limt: 5/s}]}}",
          "p.yaml:1:23: error: key 'name' is missing\n"
          "p.yaml:1:23: error: a rule needs a limit: limit, limits or unlimited: true\n"
          "p.yaml:1:24: error: unknown key 'limt'; did you mean 'limit'?\n"});
  expect(
      {"domains:\n  a:\n    rules:\n    - {name: x, limit: 5/fortnight}\n    - {name: x, limit: "
       "1/s}\n",
       "p.yaml:4:24: error: limit: \"5/fortnight\", column 3: unknown unit \"fortnight\"; use ms, "
       "s, m, h, d or w\n"
       "p.yaml:5:14: error: name: \"x\" is taken in this domain, by the rule in line 4\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, limits: {}}]}}",
          "p.yaml:1:23: error: a rule has one of limit, limits and unlimited: true\n"
          "p.yaml:1:53: error: limits: none at all\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, algorithm: fixed_window, burst: 5}]}}",
          "p.yaml:1:40: error: limit: burst 5 has no meaning for fixed_window; only token_bucket "
          "and gcra have a burst\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, algorithm: leaky}]}}",
          "p.yaml:1:56: error: algorithm: unknown algorithm \"leaky\"; use one of token_bucket, "
          "gcra, fixed_window, anchored_window, sliding_log, sliding_counter, sub_windows\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, on_failure: opne, shadow: maybe}]}}",
          "p.yaml:1:57: error: on_failure: expected one of open, closed or local, found \"opne\"; "
          "did you mean 'open'?\n"
          "p.yaml:1:71: error: shadow: expected true or false, found \"maybe\"\n"});
  expect({"domains: {a: {rules: [{name: x, limits: {d: {algorithm: gcra}, e: 5}}]}}",
          "p.yaml:1:45: error: key 'limit' is missing\n"
          "p.yaml:1:67: error: e: \"5\", column 2: expected \"/\" and a period, as in 100/minute, "
          "found the end\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, key: [u, u, {}]}]}}",
          "p.yaml:1:54: error: key: \"u\" a second time\n"
          "p.yaml:1:57: error: key: expected a text, found a map\n"});
  expect(
      {"domains: {a: {rules: [{name: x, limit: 1/s, cost: -1}, {name: y, limit: 1/s, cost: "
       "{default: 1}}]}}",
       "p.yaml:1:51: error: cost: expected a whole number from 1 to 1000000000, found \"-1\"\n"
       "p.yaml:1:84: error: key 'attribute' is missing\n"});
  expect({"domains: {a: {rules: [{name: x, limit: 1/s, overrides: {map: none}}]}}",
          "p.yaml:1:56: error: key 'by' is missing\n"
          "p.yaml:1:62: error: no map 'none' under maps\n"});
  expect(
      {"maps: {tiers: {values: {k: 1/s}}}\ndomains: {a: {rules: [{name: x, limit: 1/s, overrides: "
       "{map: teirs, by: u}}]}}",
       "p.yaml:2:62: error: no map 'teirs' under maps; did you mean 'tiers'?\n"});
  expect(
      {"maps: {m: {values: {k: fast}}}\ndomains: {a: {rules: [{name: x, limit: 1/s, overrides: "
       "{map: m, by: u}}]}}",
       "p.yaml:2:56: error: overrides: value of 'k': \"fast\", column 1: expected a limit such as "
       "100, found \"fast\"\n"});
  expect(
      {"maps: {m: {values: {k: 1/s}}}\ndomains: {a: {rules: [{name: x, limits: {a: 1/s}, "
       "overrides: {map: m, by: u}}]}}",
       "p.yaml:2:62: error: overrides: they stand for one limit; this rule has limits\n"});
  expect({"domains: {a: {deny: [{name: x}], allow: {}}}",
          "p.yaml:1:22: error: key 'when' is missing\n"
          "p.yaml:1:41: error: allow: expected a list, found a map\n"});
  expect(
      {"domains: {a: {}, a: {}}", "p.yaml:1:18: error: key 'a' a second time; first in line 1\n"});
  expect({"domains: {a: 5}", "p.yaml:1:14: error: a: expected a map, found \"5\"\n"});
}

TEST(ConfigurationErrors, InvalidConditionsAreReported) {
  const auto of = [](std::string_view when, std::string_view diagnostics_text) {
    const std::string text =
        "domains: {a: {rules: [{name: x, limit: 1/s, when: " + std::string(when) + "}]}}";
    expect({text, std::string(diagnostics_text)});
  };
  of("[a]", "p.yaml:1:51: error: when: expected a map, found a list\n");
  of("{path: users}", "p.yaml:1:58: error: path: pattern \"users\": must begin with /\n");
  of("{path: [/a/**/b/**, '/x{id}']}",
     "p.yaml:1:59: error: path: pattern \"/a/**/b/**\": ** may appear once only\n"
     "p.yaml:1:71: error: path: pattern \"/x{id}\": {name} must be a segment of its own, as in "
     "/users/{id}\n");
  of("{client_ip: [10.0.0.0/33, home]}",
     "p.yaml:1:64: error: client_ip: expected an address or a network such as 10.0.0.0/8, no bit "
     "set beyond the prefix, found \"10.0.0.0/33\"\n"
     "p.yaml:1:77: error: client_ip: expected an address or a network such as 10.0.0.0/8, no bit "
     "set beyond the prefix, found \"home\"\n");
  of("{a: }", "p.yaml:1:55: error: a: expected a value or a list, found nothing\n");
  of("{a: []}", "p.yaml:1:55: error: a: an empty list matches nothing\n");
  of("{a: {}}", "p.yaml:1:55: error: a: an empty map is no condition\n");
  of("{a: {regex: '('}}", "p.yaml:1:63: error: regex: regular expression \"(\": missing ): (\n");
  of("{a: {regex: '((a{100}){100}){100}'}}",
     "p.yaml:1:63: error: regex: regular expression \"((a{100}){100}){100}\": invalid repetition "
     "size: {100}\n");
  of("{a: {equal: x}}", "p.yaml:1:56: error: unknown key 'equal'; did you mean 'equals'?\n");
  of("{a: {equals: [x]}}",
     "p.yaml:1:64: error: equals: expected a text; one_of takes a list, found a list\n");
}

TEST(ConfigurationErrors, InvalidMappedAttributesAreReported) {
  expect(
      {"maps: {m: {values: {k: v}}}\ndomains:\n  a:\n    attributes:\n      x: {map: m, by: y}\n"
       "      y: {map: n, by: z}\n    rules: [{name: r, limit: 1/s, when: {x: v, y: v}}]\n",
       "p.yaml:5:23: error: by: \"y\" must be an attribute above this one\n"
       "p.yaml:6:16: error: no map 'n' under maps\n"});
}

TEST(ConfigurationErrors, WarningsDoNotFailTheLoad) {
  const std::string text =
      "maps: {m: {values: {k: v}}, n: {values: {k: v}}}\ndomains:\n  a:\n    attributes: {x: {map: "
      "m, by: user}}\n"
      "    rules: [{name: r, unlimited: true, cost: 2}]\n  b: {}\n";
  expect({text,
          "p.yaml:1:29: warning: map 'n' is used by no rule\n"
          "p.yaml:4:18: warning: attribute 'x' is used by no rule of this domain\n"
          "p.yaml:5:46: warning: cost means nothing for a rule without a limit\n"
          "p.yaml:6:3: warning: domain 'b' has no rules: all its requests pass\n"});
  EXPECT_TRUE(load_text(text, "p.yaml").configuration.has_value());
}

}  // namespace
}  // namespace penstock::rules
