// Configurations with a typo: a rule that limits nothing is never silent.
//
// Each example is loaded with every single mistake of two kinds: a letter dropped or two letters
// swapped in a name (YAML key, attribute, domain, map, rule), and the names of two options of one
// section exchanged. Then one of these must hold:
//
//   - the configuration has an error or a warning
//   - it limits every probe as the example does: same key, quota and cost, under any rule name
//   - the probe's domain is unknown, which `unknown_domain`, a metric and an alert cover
//
// The probes make every rule of the example apply.
#include "rules/model/configuration.hpp"
#include "rules/yaml/text_file.hpp"
#include "rules/yaml/yaml_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace penstock::rules {
namespace {

const std::filesystem::path kTree = PENSTOCK_SOURCE_DIR;

struct Probe {
  std::string domain;
  std::vector<Attribute> attributes;
};

struct Example {
  std::string file;
  std::vector<Probe> probes;
  std::vector<std::string> callers_domains;  // used only by callers: a typo shows at run time
};

const std::vector<Example>& examples() {
  static const std::vector<Example> kExamples{
      {"examples/quickstart.yaml",
       {{"default", {{"path", "/login"}, {"client_ip", "192.0.2.1"}}}, {"default", {}}},
       {}},
      {"packaging/penstock.yaml",
       {{"default", {{"path", "/login"}, {"client_ip", "192.0.2.1"}}}},
       {}},
      {"examples/gateway/penstock.yaml",
       {{"web", {{"path", "/login"}, {"method", "POST"}, {"client_ip", "192.0.2.1"}}},
        {"uploads", {{"client_ip", "192.0.2.1"}}}},
       {}},
      {"examples/envoy/penstock.yaml",
       {{"edge", {{"route", "login"}, {"remote_address", "192.0.2.1"}}},
        {"edge", {{"route", "complete"}, {"api_key", "k"}}},
        {"edge", {{"remote_address", "192.0.2.1"}}},
        {"edge", {{"path", "/v1/search/x"}, {"api_key", "k"}}}},
       {"edge"}},
      {"examples/resp/penstock.yaml", {{"api", {{"path", "/v1/search"}, {"user", "7"}}}}, {"api"}},
      {"examples/penstock.yaml",
       {{"api", {{"method", "GET"}, {"path", "/v1/search/x"}, {"api_key", "k"}}},
        {"api", {{"method", "GET"}, {"path", "/v1/search/x"}, {"api_key", "0d9f3c1e"}}},
        {"api", {{"path", "/v1/users/7/x"}, {"client_ip", "192.0.2.1"}}},
        {"api", {{"path", "/v1/complete"}, {"api_key", "k"}, {"tokens", "5"}}},
        {"api", {{"path", "/v1/complete"}}},
        {"api",
         {{"host", "partners.example.com"},
          {"method", "POST"},
          {"user_agent", "partner-x"},
          {"path", "/v2/p/orders"},
          {"origin", "198.51.100.7"},
          {"order", "12345"}}},
        {"api", {{"path", "/"}, {"client_ip", "10.0.0.1"}}},
        {"api", {{"path", "/"}, {"client_ip", "203.0.113.5"}}},
        {"api", {{"path", "/healthz"}}}},
       {}}};
  return kExamples;
}

// Quotas and keys that limit a probe, or why none does.
std::string outcome(const Ruleset& rules, const Probe& probe) {
  const Match match =
      rules.match({.domain = probe.domain, .descriptors = {{.entries = probe.attributes}}});
  if (!match.domain_known) return "unknown domain";
  if (match.missing_key_rule != nullptr) return "key missing";
  if (match.list_entry != nullptr) {
    return match.list_entry->action == Action::Deny ? "on the deny list" : "on the allow list";
  }
  std::vector<std::string> limits;
  for (const MatchedLimit& matched : match.limits) {
    limits.push_back(matched.check.name.subject + " " + to_string(matched.check.quota) + " " +
                     std::to_string(matched.check.cost.units) +
                     (matched.rule->shadow ? " shadow" : ""));
  }
  std::sort(limits.begin(), limits.end());
  std::string all;
  for (const std::string& limit : limits) all += limit + "; ";
  return all;
}

struct Word {
  std::size_t offset;
  std::string text;
};

// Names in a configuration, and pairs of options of the same section.
class Names {
 public:
  Names(const std::string& text, const std::filesystem::path& file) : text_(text) {
    std::size_t offset = 0;
    while (offset < text.size()) {
      lines_.push_back(offset);
      offset = std::min(text.find('\n', offset), text.size()) + 1;
    }
    document_ = YamlDocument::parse(text, file.string(), diagnostics_);
    if (document_ != nullptr) walk(YamlNode(*document_), "");
  }

  std::vector<Word> words{};
  std::vector<std::pair<Word, Word>> pairs{};

 private:
  static bool names_something(std::string_view key) {
    static const std::set<std::string_view> kKeys{
        "key", "by", "attribute", "domain", "map", "upstream", "name", "caller_attributes"};
    return kKeys.contains(key);
  }

  // Excludes names chosen by the author, and attributes, which hold data.
  static bool has_options(std::string_view section) {
    static const std::set<std::string_view> kChosen{"when",   "domains", "upstreams",
                                                    "limits", "maps",    "attributes"};
    return !kChosen.contains(section);
  }

  void add(const YamlNode& node) {
    const Word word = word_of(node);
    if (word.text == text_.substr(word.offset, word.text.size())) words.push_back(word);
  }

  [[nodiscard]] Word word_of(const YamlNode& node) const {
    const Position at = node.position();
    return {lines_.at(at.line - 1) + at.column - 1 + (node.is_quoted() ? 1 : 0),
            std::string(node.raw())};
  }

  void walk(const YamlNode& node, std::string_view under) {
    if (node.is_text() && names_something(under)) return add(node);
    if (node.is_list()) {
      for (const YamlNode& item : node.list()) walk(item, under);
    }
    if (!node.is_map() || under == "values") return;  // map values are data
    const std::vector<YamlEntry> entries = node.entries();
    for (const YamlEntry& entry : entries) {
      add(entry.key);
      walk(entry.value, entry.key.raw());
    }
    if (!has_options(under)) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      for (std::size_t j = i + 1; j < entries.size(); ++j) pair(entries[i], entries[j]);
    }
  }

  void pair(const YamlEntry& one, const YamlEntry& other) {
    const bool are_lists = one.key.raw() == "deny" && other.key.raw() == "allow";
    const bool are_equal = one.value.is_text() && one.value.raw() == other.value.raw();
    if (!are_lists && !are_equal) pairs.emplace_back(word_of(one.key), word_of(other.key));
  }

  const std::string& text_;
  std::vector<std::size_t> lines_;
  Diagnostics diagnostics_;
  std::unique_ptr<const YamlDocument> document_;
};

class Mutations : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    path_ = kTree / example_.file;
    const Result<std::string> text = read_text_file(path_, 1 << 20);
    ASSERT_TRUE(text.has_value());
    text_ = *text;
    const Loaded loaded = load_text(text_, path_);
    ASSERT_TRUE(loaded.configuration.has_value());
    ASSERT_TRUE(loaded.diagnostics.empty()) << to_string(loaded.diagnostics.front());
    for (const Probe& probe : example_.probes) {
      wanted_.push_back(outcome(*loaded.configuration->rules, probe));
    }
  }

  void expect_noticed(const std::string& mutated, const std::string& what) {
    ++tried_;
    const Loaded loaded = load_text(mutated, path_);
    if (!loaded.configuration || !loaded.diagnostics.empty()) return;
    ++silent_;
    for (std::size_t i = 0; i < example_.probes.size(); ++i) {
      const Probe& probe = example_.probes[i];
      const std::string found = outcome(*loaded.configuration->rules, probe);
      const auto& callers = example_.callers_domains;
      const bool shows_at_run_time =
          found == "unknown domain" &&
          std::find(callers.begin(), callers.end(), probe.domain) != callers.end();
      if (shows_at_run_time) continue;
      EXPECT_EQ(found, wanted_[i]) << what << ", probe " << i;
    }
  }

  void TearDown() override {
    RecordProperty("tried", static_cast<int>(tried_));
    RecordProperty("silent", static_cast<int>(silent_));
  }

  [[nodiscard]] std::string replaced(const Word& word, const std::string& by) const {
    std::string mutated = text_;
    return mutated.replace(word.offset, word.text.size(), by);
  }

  const Example& example_ = examples()[GetParam()];
  std::filesystem::path path_;
  std::string text_;
  std::vector<std::string> wanted_;
  std::size_t tried_ = 0;
  std::size_t silent_ = 0;
};

TEST_P(Mutations, ProbesMakeEveryRuleApply) {
  const Loaded loaded = load_text(text_, path_);
  std::set<const Rule*> matched;
  for (const Probe& probe : example_.probes) {
    const Explanation explanation = loaded.configuration->rules->explain(
        {.domain = probe.domain, .descriptors = {{.entries = probe.attributes}}});
    for (const RuleReport& report : explanation.rules) {
      if (report.matched) matched.insert(report.rule);
    }
  }
  for (const auto& rule : loaded.configuration->rules->rules()) {
    EXPECT_TRUE(matched.contains(rule.get())) << rule->name;
  }
}

TEST_P(Mutations, ADroppedLetterIsNoticed) {
  for (const Word& word : Names(text_, path_).words) {
    for (std::size_t i = 0; i < word.text.size() && word.text.size() > 1; ++i) {
      std::string typo = word.text;
      typo.erase(i, 1);
      expect_noticed(replaced(word, typo), word.text + " as " + typo);
    }
  }
  EXPECT_GT(tried_, 50U);
  EXPECT_LT(silent_, tried_ / 2);  // rules, limits and upstreams can have any name
}

TEST_P(Mutations, SwappedLettersAreNoticed) {
  for (const Word& word : Names(text_, path_).words) {
    for (std::size_t i = 0; i + 1 < word.text.size(); ++i) {
      std::string typo = word.text;
      std::swap(typo[i], typo[i + 1]);
      if (typo != word.text) expect_noticed(replaced(word, typo), word.text + " as " + typo);
    }
  }
  EXPECT_GT(tried_, 50U);
  EXPECT_LT(silent_, tried_ / 2);
}

TEST_P(Mutations, SwappedOptionsAreNoticed) {
  for (const auto& [one, other] : Names(text_, path_).pairs) {
    std::string mutated = text_;  // later one first, so that the earlier offset stays valid
    const auto& [first, second] =
        one.offset < other.offset ? std::tie(one, other) : std::tie(other, one);
    mutated.replace(second.offset, second.text.size(), first.text);
    mutated.replace(first.offset, first.text.size(), second.text);
    expect_noticed(mutated, one.text + " and " + other.text);
  }
  EXPECT_GT(tried_, 3U);
}

INSTANTIATE_TEST_SUITE_P(Examples, Mutations, testing::Range<std::size_t>(0, 6));

}  // namespace
}  // namespace penstock::rules
