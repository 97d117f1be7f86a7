// What is valid and probably limits nothing is a warning, with its place and what was meant.
#include "rules/model/configuration.hpp"
#include "rules/model/known_attributes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::rules {
namespace {

std::string warnings(const std::string& text) {
  const Loaded loaded = load_text(text, "p.yaml");
  std::string all;
  for (const Diagnostic& each : loaded.diagnostics) all += to_string(each) + "\n";
  EXPECT_TRUE(loaded.configuration.has_value()) << all;
  return all;
}

std::string of_rule(const std::string& rule) {
  return warnings("domains:\n  api:\n    rules:\n      - {name: r, limit: 1/s, " + rule + "}\n");
}

bool has(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

constexpr const char* kGateway =
    "gateway: {listen: 127.0.0.1:0, domain: web, upstreams: {a: {servers: [http://127.0.0.1:1]}}, "
    "routes: [{upstream: a}]}\n";

TEST(ConfigurationWarnings, ANameThatResemblesAnAttributeSaysWhichOneAndWhere) {
  EXPECT_EQ(of_rule("key: [clientip]"),
            "p.yaml:4:37: warning: attribute 'clientip' is provided by no listener; did you mean "
            "'client_ip'?\n");
  EXPECT_TRUE(has(of_rule("when: {pth: /x}"),
                  "attribute 'pth' is provided by no listener; did you "
                  "mean 'path'?"));
  EXPECT_TRUE(has(of_rule("cost: {attribute: tennant}"), "did you mean 'tenant'?"));
  EXPECT_TRUE(has(of_rule("key: [usr_id]"), "did you mean 'user_id'?"));
}

TEST(ConfigurationWarnings, EveryPlaceThatReadsAnAttributeIsChecked) {
  const std::string text = R"(
maps: {limits: {values: {a: 1/s}}, tiers: {values: {a: gold}}}
domains:
  api:
    attributes: {tier: {map: tiers, by: acount, default: free}}
    deny: [{name: d, when: {clientip: 10.0.0.0/8}}]
    allow: [{name: a, when: {methd: GET}}]
    rules:
      - {name: r, when: {tier: free}, limit: 1/s, overrides: {map: limits, by: userid}}
      - {name: s, limit: 1/s, cost: {attribute: qery}}
)";
  for (const char* name : {"acount", "clientip", "methd", "userid", "qery"}) {
    EXPECT_TRUE(has(warnings(text), std::string("attribute '") + name + "'")) << warnings(text);
  }
}

TEST(ConfigurationWarnings, AnUnknownNameIsSilencedByListingIt) {
  EXPECT_TRUE(has(of_rule("key: [shard]"), "list it under caller_attributes"));
  const std::string rules = "rules: [{name: r, limit: 1/s, key: [shard]}]";
  EXPECT_EQ(warnings("domains: {api: {caller_attributes: [shard], " + rules + "}}"), "");
  EXPECT_TRUE(has(warnings("domains: {api: {caller_attributes: [shrad], " + rules + "}}"),
                  "did you mean 'shrad'?"));
  EXPECT_EQ(of_rule("key: [user_id, client_ip]"), "");
}

TEST(ConfigurationWarnings, NamesOfDescriptorsAndCapturesAreKnown) {
  EXPECT_EQ(of_rule("when: {path: '/users/{id}'}, key: [id]"), "");
  EXPECT_TRUE(has(of_rule("when: {path: '/users/{account_no}'}, key: [acount_no]"),
                  "did you mean 'account_no'?"));
}

TEST(ConfigurationWarnings, TheGatewayProvidesWhatHttpSaysAndNothingElse) {
  const std::string domain = "domains: {web: {rules: [{name: r, limit: 1/s, if_missing: deny, ";
  EXPECT_EQ(warnings(kGateway + domain + "key: [header.x-api-key, client_ip]}]}}"), "");
  EXPECT_TRUE(has(warnings(kGateway + domain + "key: [api_key]}]}}"),
                  "attribute 'api_key' is not provided by the gateway, which uses this domain; "
                  "did you mean 'header.x-api-key'?"));
  EXPECT_TRUE(has(warnings(kGateway + domain + "key: [user_id]}]}}"), "'header.x-user-id'"));
  EXPECT_TRUE(has(warnings("server: {forward_auth: {domain: web}}\n" + domain + "key: [plan]}]}}"),
                  "attribute 'plan' is not provided by forward_auth"));
}

TEST(ConfigurationWarnings, HeadersAreInLowerCaseAndTyposOfCommonOnesAreFound) {
  const auto header = [](const std::string& name) {
    return of_rule("if_missing: deny, key: [" + name + "]");
  };
  EXPECT_TRUE(has(header("header.X-Api-Key"), "did you mean 'header.x-api-key'?"));
  EXPECT_TRUE(has(header("header.x-apikey"), "did you mean 'header.x-api-key'?"));
  EXPECT_TRUE(has(header("header."), "not the name of a header"));
  EXPECT_TRUE(has(header("header.x api"), "not the name of a header"));
  EXPECT_EQ(header("header.x-shop"), "");
  EXPECT_EQ(header("header.user-agent"), "");
  for (const char* ordinary :
       {"x-forwarded-host", "x-forwarded-proto", "x-client-ip", "api-key", "x-csrf-token",
        "x-tenant", "x-user", "x-account", "x-client", "x-team-id"}) {
    EXPECT_EQ(header(std::string("header.") + ordinary), "") << ordinary;
  }
  // the one that is read more often is right
  const std::string text = R"(
domains:
  api:
    if_missing: skip
    rules:
      - {name: a, limit: 1/s, key: [header.x-shop-number]}
      - {name: b, limit: 1/s, key: [header.x-shop-numbr], when: {path: /x}}
      - {name: c, limit: 1/s, key: [header.x-shop-number], when: {path: /y}}
)";
  EXPECT_EQ(warnings(text),
            "p.yaml:7:37: warning: attribute 'header.x-shop-numbr' resembles another header; did "
            "you mean 'header.x-shop-number'?\n");
}

TEST(ConfigurationWarnings, ValuesThatNoRequestHasAreReported) {
  EXPECT_TRUE(has(of_rule("when: {method: [GET, PSOT]}"), "did you mean 'POST'?"));
  EXPECT_EQ(of_rule("when: {method: [get, PROPFIND]}"), "");
  EXPECT_TRUE(has(of_rule("when: {host: API.example.com}"), "in lower case"));
  EXPECT_TRUE(has(of_rule("when: {host: {not: API.example.com}}"), "in lower case"));
  EXPECT_TRUE(has(of_rule("when: {proto: HTTPS}"), "in lower case"));
  EXPECT_TRUE(has(of_rule("when: {path: '/search?q=*'}"), "a path has no query"));
  EXPECT_EQ(of_rule("when: {host: api.example.com, proto: https, path: /Search/**}"), "");
}

TEST(ConfigurationWarnings, UpperCaseWhereRulesSeePathsInLowerCase) {
  const auto of = [](const std::string& listener, const std::string& path) {
    return warnings(listener +
                    "domains: {web: {rules: [{name: r, limit: 1/s, when: {path: " + path + "}}]}}");
  };
  const std::string folds = "server: {forward_auth: {domain: web, paths: {case: insensitive}}}\n";
  EXPECT_EQ(of(folds, "/Login"),
            "p.yaml:2:60: warning: path: \"/Login\" has upper-case letters, which never match: "
            "forward_auth.paths.case is insensitive, so rules see paths in lower case\n");
  for (const char* path :
       {"[/a, /B/*]", "'/users/{id}/Orders'", "{equals: /Login}", "{one_of: [/a, /B]}",
        "{prefix: /V1}", "{glob: '*.PHP'}", "{glob: '/*.PHP'}", "{template: '/V1/{id}'}",
        "{regex: '/V\\d+'}", "{not: /Login}", "{not: {prefix: /V1}}"}) {
    const std::string said = of(folds, path);
    EXPECT_TRUE(has(said, "upper-case letters")) << path;
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  }
  for (const char* path : {"/login", "'/users/{userId}'", "{prefix: /v1}", "{regex: '/\\S+\\D'}",
                           "{regex: '(?i)/Login'}", "{regex: '/(?P<id>.*)'}"}) {
    EXPECT_EQ(of(folds, path), "") << path;
  }
  const std::string gateway(kGateway);
  const std::string setting = "listen: 127.0.0.1:0, paths: {case: insensitive}";
  EXPECT_EQ(of(gateway, "/Login"), "");
  const std::string folding = std::string(gateway).replace(10, 19, setting);
  EXPECT_TRUE(has(of(folding, "/Login"), "gateway.paths.case is insensitive"));
  // another domain, which callers ask for with paths as they are
  EXPECT_FALSE(has(warnings(folding + "domains: {web: {rules: [{name: r, limit: 1/s}]}, "
                                      "api: {rules: [{name: r, limit: 1/s, when: {path: /A}}]}}"),
                   "upper-case"));
}

TEST(ConfigurationWarnings, AListenerDomainWithoutRulesIsReported) {
  const std::string rules = "domains: {wbe: {rules: [{name: r, limit: 1/s}]}}";
  EXPECT_EQ(warnings(kGateway + rules),
            "p.yaml:1:40: warning: gateway.domain: no domain 'web', so the gateway limits nothing; "
            "did you mean 'wbe'?\n");
  EXPECT_TRUE(has(warnings("server: {forward_auth: {domain: nope}}\n" + rules),
                  "p.yaml:1:33: warning: forward_auth.domain: no domain 'nope', so forward_auth "
                  "limits nothing"));
  EXPECT_EQ(warnings(kGateway + rules + "\nunknown_domain: deny\n"),
            "p.yaml:1:40: warning: gateway.domain: no domain 'web', so all requests to the gateway "
            "are denied; did you mean 'wbe'?\n");
  const std::string by_default =
      "gateway: {listen: 127.0.0.1:0, upstreams: {a: {servers: [http://127.0.0.1:1]}}, "
      "routes: [{upstream: a, domain: ROUTE}]}\n";
  EXPECT_TRUE(has(warnings(by_default + rules), "gateway.routes.domain: no domain 'ROUTE'"));
  EXPECT_TRUE(has(warnings("domains: {defualt: {rules: [{name: r, limit: 1/s}]}}"),
                  "did you mean 'default'?"));
}

TEST(ConfigurationWarnings, AnUnknownKeyOfMaxInFlightIsReported) {
  const std::string text =
      "gateway: {listen: 127.0.0.1:0, domain: web, max_in_flight: {key: clientip, limit: 5}, "
      "upstreams: {a: {servers: [http://127.0.0.1:1]}}, routes: [{upstream: a}]}\n"
      "domains: {web: {rules: [{name: r, limit: 1/s}]}}";
  EXPECT_TRUE(has(warnings(text),
                  "attribute 'clientip' is not provided by the gateway, which uses "
                  "this domain; did you mean 'client_ip'?"));
}

TEST(ConfigurationWarnings, TrustingEveryProxyIsReported) {
  const auto trusting = [](const std::string& networks) {
    return warnings("server: {trusted_proxies: " + networks +
                    "}\ndomains: {api: {rules: [{name: r, limit: 1/s}]}}");
  };
  for (const char* network : {"[0.0.0.0/0]", "['::/0']", "[0.0.0.0/1]"}) {
    EXPECT_TRUE(has(trusting(network), "trusts clients too")) << network;
  }
  EXPECT_EQ(trusting("[10.0.0.0/8, 127.0.0.1, 'fc00::/7']"), "");
}

TEST(ConfigurationWarnings, TooLongIpv6PrefixesAreReported) {
  EXPECT_TRUE(has(of_rule("key: [client_ip], ipv6_prefix: 128"), "p.yaml:4:"));
  EXPECT_TRUE(has(of_rule("key: [client_ip], ipv6_prefix: 65"), "one subscriber has a /64"));
  EXPECT_EQ(of_rule("key: [client_ip], ipv6_prefix: 64"), "");
}

TEST(ConfigurationWarnings, AConfigurationWithoutRulesIsReported) {
  EXPECT_TRUE(has(warnings(""), "an empty file: it limits nothing"));
  EXPECT_TRUE(has(warnings("# only a comment\n"), "an empty file"));
  EXPECT_TRUE(has(warnings("server: {listen: 127.0.0.1:0}\n"), "no request is limited by a rule"));
  EXPECT_TRUE(has(warnings("domains: {}\n"), "no domains: no request is limited by a rule"));
  EXPECT_TRUE(has(warnings("domains: {api: {rules: []}}\n"), "has no rules"));
  EXPECT_EQ(warnings("request_limits: {on_failure: open}\n"), "");
}

TEST(ConfigurationWarnings, AKeyThatClientsMayLeaveOutNeedsACompanion) {
  EXPECT_TRUE(has(of_rule("key: [api_key]"), "nothing limits requests without api_key"));
  EXPECT_TRUE(has(of_rule("key: [client_ip, header.x-api-key]"), "without header.x-api-key"));
  EXPECT_EQ(of_rule("key: [api_key], shadow: true"), "");
  for (const char* choice : {"skip", "deny", "count_as_one"}) {
    EXPECT_EQ(of_rule(std::string("key: [api_key], if_missing: ") + choice), "") << choice;
  }
  const auto with = [](const std::string& companion) {
    return warnings(
        "domains: {api: {rules: [{name: r, when: {path: /x, method: GET}, limit: 1/s, "
        "key: [api_key]}, {name: c, limit: 1/s, " +
        companion + "}]}}");
  };
  EXPECT_EQ(with("when: {api_key: {present: false}}, key: [client_ip]"), "");
  EXPECT_EQ(with("key: [client_ip]"), "");
  EXPECT_EQ(with("when: {path: /x}"), "");
  EXPECT_EQ(with("key: [user_agent], if_missing: count_as_one"), "");
  EXPECT_TRUE(has(with("when: {path: /y}"), "nothing limits requests without api_key"));
  EXPECT_TRUE(has(with("when: {api_key: '*'}"), "nothing limits requests without api_key"));
  EXPECT_TRUE(has(with("shadow: true"), "nothing limits requests without api_key"));
  EXPECT_TRUE(has(with("key: [header.x-user-id], if_missing: skip"),
                  "nothing limits requests without api_key"));
}

TEST(ConfigurationWarnings, ALookedUpKeyIsThereWhenItHasADefault) {
  const auto with = [](const std::string& fallback) {
    return warnings(
        "maps: {m: {values: {a: b}}}\ndomains: {api: {attributes: {tier: {map: m, by: "
        "api_key" +
        fallback + "}}, rules: [{name: r, limit: 1/s, key: [tier]}]}}");
  };
  EXPECT_EQ(with(", default: free"), "");
  EXPECT_TRUE(has(with(""), "nothing limits requests without tier"));
}

TEST(ConfigurationWarnings, ALookedUpConditionHasItsDefaultWithoutTheKey) {
  const auto with = [](const std::string& rules) {
    return warnings(
        "maps: {m: {values: {a: gold}}}\ndomains: {api: {attributes: {tier: {map: m, by: "
        "header.x-api-key, default: unknown}}, rules: [" +
        rules + "]}}");
  };
  const std::string gold = "{name: g, when: {tier: gold}, key: header.x-api-key, limit: 9/s}";
  const std::string unknown = "{name: u, when: {tier: unknown}, key: client_ip, limit: 1/s}";
  const std::string any = "{name: a, key: header.x-api-key, limit: 5/s}";
  EXPECT_EQ(with(gold + ", " + unknown), "");
  EXPECT_EQ(with(any + ", " + unknown), "");
  EXPECT_TRUE(has(with(gold + ", " + any), "nothing limits requests without header.x-api-key"));
  EXPECT_TRUE(has(with("{name: u, when: {tier: unknown}, key: header.x-api-key, limit: 1/s}"),
                  "nothing limits requests without header.x-api-key"));
}

TEST(ConfigurationWarnings, ManyWarningsAreNoError) {
  std::string text = "domains:\n  api:\n    rules:\n";
  for (int i = 0; i < 300; ++i) {
    text += "      - {name: r" + std::to_string(i) +
            ", limit: 1/s, key: [api_key], when: {path: /" + std::to_string(i) + "}}\n";
  }
  EXPECT_TRUE(has(warnings(text), "warning: more than this is left out"));
  const Loaded broken = load_text(text + "      - {name: last}\n", "p.yaml");
  EXPECT_FALSE(broken.configuration.has_value());
  EXPECT_TRUE(has_error(broken.diagnostics));
}

// A typo must not turn one known name into another.
TEST(KnownAttributes, NoneIsOneDroppedOrSwappedLetterFromAnother) {
  std::vector<std::string> names(kHttpAttributes.begin(), kHttpAttributes.end());
  names.insert(names.end(), kCommonAttributes.begin(), kCommonAttributes.end());
  for (const std::string_view header : kCommonHeaders) {
    names.push_back(std::string(kHeaderPrefix) + std::string(header));
  }
  const auto is_known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : names) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      EXPECT_FALSE(is_known(name.substr(0, i) + name.substr(i + 1))) << name;
      std::string swapped = name;
      if (i + 1 < name.size()) std::swap(swapped[i], swapped[i + 1]);
      EXPECT_FALSE(swapped != name && is_known(swapped)) << name;
    }
  }
}

}  // namespace
}  // namespace penstock::rules
