#include "rules/yaml/diagnostic.hpp"
#include "rules/yaml/domain_format.hpp"
#include "rules/yaml/rule_keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::rules {
namespace {

using Test = decltype(Condition::test);

constexpr std::array<std::string_view, 9> kMethods{"GET",    "HEAD",    "POST",    "PUT",  "PATCH",
                                                   "DELETE", "OPTIONS", "CONNECT", "TRACE"};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool has_upper(std::string_view text) { return std::any_of(text.begin(), text.end(), is_upper); }

// Listeners provide methods in upper case, and hosts in lower case without a port. Returns a
// warning about a value that no request can have; empty when there is none.
std::string value_problem(std::string_view attribute, std::string_view value) {
  if (attribute == "method") {
    if (std::find(kMethods.begin(), kMethods.end(), value) != kMethods.end()) return {};
    const std::string meant = suggestion(value, kMethods);
    return meant.empty() ? meant
                         : "method: " + quote_value(value) + " is not a common method" + meant;
  }
  if ((attribute == "host" || attribute == "proto") && has_upper(value)) {
    return std::string(attribute) + ": " + quote_value(value) +
           " never matches what listeners provide, which is in lower case";
  }
  if (attribute == "path" && value.find('?') != std::string_view::npos) {
    return "path: " + quote_value(value) +
           " never matches: a path has no query, which is an attribute";
  }
  return {};
}

// Literal letters: not those of \D and (?P<name>...), and none when case is ignored.
bool regex_has_upper(std::string_view regex) {
  if (regex.find("(?i") != std::string_view::npos) return false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const std::string_view rest = regex.substr(i);
    if (rest.starts_with('\\')) {
      ++i;
    } else if (rest.starts_with("(?P")) {
      i += 2;
    } else if (is_upper(regex[i])) {
      return true;
    }
  }
  return false;
}

void warn_of_value(const YamlNode& node, std::string_view attribute, std::string_view value) {
  const std::string problem = value_problem(attribute, value);
  if (!problem.empty()) node.warning(problem);
}

// Reads the condition on one attribute. A function that returns nothing has reported an error.
class AttributeConditions {
 public:
  // `folding` names the option by which listeners provide paths in lower case; empty for none.
  AttributeConditions(std::string_view attribute, std::size_t slot, std::string_view folding,
                      std::vector<std::string>& captures)
      : attribute_(attribute), slot_(slot), folding_(folding), captures_(captures) {}

  std::vector<Condition> read(const YamlNode& node) {
    if (node.is_map()) {
      read_forms(node);
    } else {
      add(read_plain(node));
    }
    return std::move(conditions_);
  }

 private:
  void add(std::optional<Test> test) {
    if (!test) return;
    conditions_.push_back(
        {.slot = slot_, .attribute = std::string(attribute_), .test = std::move(*test)});
  }

  std::vector<std::string> texts(const YamlNode& node) const {
    std::vector<std::string> values;
    for (const YamlNode& one : node.one_or_list()) {
      const auto text = one.text();
      if (!text) continue;
      values.emplace_back(*text);
      if (attribute_ == "method") {
        std::transform(values.back().begin(), values.back().end(), values.back().begin(),
                       [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      }
      if (attribute_ != "path") warn_of_value(one, attribute_, values.back());
    }
    report_empty_list(node);
    return values;
  }

  // Warns of values with upper-case letters.
  void warn_of_case(const YamlNode& node) const {
    if (attribute_ != "path" || folding_.empty()) return;
    node.warning("path: " + quote_value(node.raw()) +
                 " has upper-case letters, which never match: " + std::string(folding_) +
                 " is insensitive, so rules see paths in lower case");
  }

  void warn_of_case_in_list(const YamlNode& node) const {
    for (const YamlNode& one : node.one_or_list()) {
      if (one.is_text() && has_upper(one.raw())) warn_of_case(one);
    }
  }

  static void report_empty_list(const YamlNode& node) {
    if (!node.is_list() || !node.list().empty()) return;
    node.error(label(node) + "an empty list matches nothing");
  }

  static bool are_paths(const std::vector<std::string>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](const std::string& one) { return one.starts_with('/'); });
  }

  static std::string label(const YamlNode& node) { return std::string(node.label()) + ": "; }

  std::optional<Test> read_plain(const YamlNode& node) {
    if (attribute_ == "client_ip") return read_networks(node);
    std::vector<std::string> values = texts(node);
    if (values.empty()) return std::nullopt;
    const bool all_paths = are_paths(values);
    const bool any_star = std::any_of(values.begin(), values.end(), [](const std::string& one) {
      return one.find('*') != std::string::npos;
    });
    if (attribute_ == "path" || (attribute_ == "route" && all_paths)) {
      return read_paths(node, PathPattern::Braces::Capture);
    }
    if (any_star && all_paths) return read_paths(node, PathPattern::Braces::Literal);
    if (any_star) return Wildcard{std::move(values)};
    return make_one_of(std::move(values));
  }

  static std::optional<Test> read_networks(const YamlNode& node) {
    std::vector<base::IpNetwork> networks;
    for (const YamlNode& one : node.one_or_list()) {
      const auto network = one.is_text() ? base::IpNetwork::parse(one.raw()) : std::nullopt;
      if (network) {
        networks.push_back(*network);
      } else {
        one.expected("an address or a network such as 10.0.0.0/8, no bit set beyond the prefix");
      }
    }
    report_empty_list(node);
    if (networks.empty()) return std::nullopt;
    return make_in_network(std::move(networks));
  }

  std::optional<Test> read_paths(const YamlNode& node, PathPattern::Braces braces) {
    std::vector<PathPattern> patterns;
    for (const YamlNode& one : node.one_or_list()) {
      const auto text = one.text();
      if (!text) continue;
      Result<PathPattern> pattern = PathPattern::parse(*text, braces, captures_);
      if (pattern) {
        warn_of_value(one, attribute_, *text);
        const auto& segments = pattern->segments();
        if (std::any_of(segments.begin(), segments.end(),
                        [](const auto& segment) { return has_upper(segment.text); })) {
          warn_of_case(one);
        }
        patterns.push_back(std::move(*pattern));
      } else {
        one.error(label(one) + pattern.error().detail);
      }
    }
    if (patterns.empty()) return std::nullopt;
    return make_path_one_of(std::move(patterns));
  }

  std::optional<Test> read_glob(const YamlNode& node) {
    std::vector<std::string> patterns = texts(node);
    if (patterns.empty()) return std::nullopt;
    if (are_paths(patterns)) return read_paths(node, PathPattern::Braces::Literal);
    warn_of_case_in_list(node);
    return Wildcard{std::move(patterns)};
  }

  std::optional<Test> read_regex(const YamlNode& node) const {
    const auto text = node.text();
    if (!text) return std::nullopt;
    if (regex_has_upper(*text)) warn_of_case(node);
    Result<FullMatch> test = make_full_match(*text);
    if (test) return std::move(*test);
    node.error("regex: " + test.error().detail);
    return std::nullopt;
  }

  std::optional<Test> read_not(const YamlNode& node) const {
    std::vector<std::string> ignored;
    Not test{AttributeConditions(attribute_, slot_, folding_, ignored).read(node)};
    if (test.conditions.empty()) return std::nullopt;
    return test;
  }

  void read_forms(const YamlNode& node) {
    const YamlFields fields(node, keys::kCondition);
    for (const std::string_view form : {"equals", "one_of", "prefix"}) {
      if (const auto values = fields.find(form)) warn_of_case_in_list(*values);
    }
    if (node.entries().empty()) node.error(label(node) + "an empty map is no condition");
    if (const auto form = fields.find("equals")) {
      if (form->is_list()) {
        form->expected("a text; one_of takes a list");
      } else if (auto values = texts(*form); !values.empty()) {
        add(make_one_of(std::move(values)));
      }
    }
    if (const auto form = fields.find("one_of")) {
      if (auto values = texts(*form); !values.empty()) add(make_one_of(std::move(values)));
    }
    if (const auto form = fields.find("prefix")) {
      if (const auto text = form->text()) add(Prefix{std::string(*text)});
    }
    if (const auto form = fields.find("glob")) add(read_glob(*form));
    if (const auto form = fields.find("template")) {
      add(read_paths(*form, PathPattern::Braces::Capture));
    }
    if (const auto form = fields.find("cidr")) add(read_networks(*form));
    if (const auto form = fields.find("regex")) add(read_regex(*form));
    if (const auto form = fields.find("present")) {
      if (const auto wanted = form->boolean()) add(Present{*wanted});
    }
    if (const auto form = fields.find("not")) add(read_not(*form));
  }

  std::string_view attribute_;
  std::size_t slot_;
  std::string_view folding_;
  std::vector<std::string>& captures_;
  std::vector<Condition> conditions_;
};

}  // namespace

std::size_t DomainDraft::slot(std::string_view attribute) {
  const auto [place, is_new] = domain.slots.try_emplace(std::string(attribute), domain.uses.size());
  if (is_new) domain.uses.emplace_back();
  return place->second;
}

void DomainDraft::use(std::size_t slot, SlotUse use) {
  SlotUse& all = domain.uses[slot];
  all.as_path = all.as_path || use.as_path;
  all.as_address = all.as_address || use.as_address;
}

std::vector<Condition> read_conditions(const YamlNode& when, DomainDraft& draft,
                                       std::vector<std::string>& captures) {
  std::vector<Condition> all;
  for (const YamlEntry& entry : when.entries()) {
    draft.mentions.push_back(entry.key);
    const std::size_t slot = draft.slot(entry.key.raw());
    AttributeConditions reader(entry.key.raw(), slot, draft.folding, captures);
    for (Condition& condition : reader.read(entry.value)) {
      draft.use(slot, use_of(condition));
      all.push_back(std::move(condition));
    }
  }
  draft.captures.insert(draft.captures.end(), captures.begin(), captures.end());
  return all;
}

}  // namespace penstock::rules
