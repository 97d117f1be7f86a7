#include "rules/envoy/envoy_format.hpp"

#include "base/text_hash.hpp"
#include "rules/envoy/envoy_fields.hpp"
#include "rules/envoy/envoy_matcher.hpp"
#include "rules/envoy/envoy_rate_limit.hpp"

#include <memory>
#include <unordered_set>
#include <utility>

namespace penstock::rules {
namespace {

// Where in the tree a descriptor stands.
struct Place {
  EnvoyNode* parent = nullptr;
  std::vector<const EnvoyNode*> above{};
  std::string composite_key{};  // of the parent: "domain.key_value"
  bool kept = true;             // false: only checked for mistakes
};

class EnvoyFile {
 public:
  EnvoyFile(const YamlNode& root, RulesetBuilder& builder)
      : root_(root), fields_(root, EnvoyMap::File), builder_(builder) {}

  void read() {
    const bool claimed = claim_domain();
    read_on_failure(fields_, defaults_.on_failure);
    read_terms(fields_, defaults_.terms);
    EnvoyNode top;
    read_level(fields_, {.parent = &top, .composite_key = domain_, .kept = claimed});
    if (!claimed) return;
    builder_.add_domain(
        domain_, std::make_unique<const EnvoyMatcher>(domain_, std::move(top), std::move(paths_)));
  }

 private:
  bool claim_domain() {
    domain_ = fields_.text("domain").value_or("");
    const auto written = fields_.find("domain");
    if (fields_.is_invalid("domain") || (written && !written->is_text())) return false;
    const YamlNode node = written.value_or(root_);
    if (domain_.empty()) {
      node.error("config file cannot have empty domain");
      return false;
    }
    const Source* const before =
        builder_.claim_domain(domain_, {.file = root_.file(), .line = node.position().line});
    if (before == nullptr) return true;
    node.error("duplicate domain '" + domain_ + "' in config file; it is in " + before->file + ":" +
               std::to_string(before->line) + " already");
    return false;
  }

  void read_level(const EnvoyFields& fields, const Place& place) {
    for (const YamlNode& node : fields.maps("descriptors")) read_descriptor(node, place);
  }

  void read_descriptor(const YamlNode& node, const Place& place) {
    const EnvoyFields fields(node, EnvoyMap::Descriptor);
    const EnvoyNode::Traits traits = read_traits(fields);
    std::string composite_key = place.composite_key + "." + EnvoyNode::name_of(traits);
    EnvoyNode unused(traits);  // its children are still checked
    EnvoyNode* here = nullptr;
    if (is_named(fields, traits) && place.kept) here = add(node, traits, composite_key, place);
    const bool kept = here != nullptr;
    if (!kept) here = &unused;

    std::vector<const EnvoyNode*> path = place.above;
    path.push_back(here);
    Rule rule = read_rule(node, fields);
    if (const auto limit_node = fields.find("rate_limit")) {
      std::optional<EnvoyRateLimit> limit = read_rate_limit(*limit_node, defaults_, composite_key);
      if (limit && kept) {
        add_rule(*here, path, composite_key, std::move(*limit), std::move(rule));
      }
    }
    read_level(fields, {.parent = here,
                        .above = std::move(path),
                        .composite_key = std::move(composite_key),
                        .kept = kept});
  }

  static EnvoyNode::Traits read_traits(const EnvoyFields& fields) {
    EnvoyNode::Traits traits{.key = fields.text("key").value_or(""),
                             .value = fields.text("value").value_or(""),
                             .share_threshold = fields.flag("share_threshold"),
                             .value_to_metric = fields.flag("value_to_metric"),
                             .detailed_metric = fields.flag("detailed_metric")};
    if (traits.share_threshold && EnvoyNode::name_of(traits).find('*') == std::string::npos &&
        !fields.is_invalid("key") && !fields.is_invalid("value")) {
      fields.find("share_threshold")
          .value_or(fields.map())
          .error(
              "share_threshold can only be used with wildcard values (containing '*'), but found "
              "key '" +
              EnvoyNode::name_of(traits) + "'");
    }
    return traits;
  }

  // Whether key and value are valid, so that the node can be added to the tree.
  static bool is_named(const EnvoyFields& fields, const EnvoyNode::Traits& traits) {
    if (fields.is_invalid("key") || fields.is_invalid("value")) return false;
    const auto key = fields.find("key");
    if (key && !key->is_text()) return false;
    if (traits.key.empty()) fields.map().error("descriptor has empty key");
    return !traits.key.empty();
  }

  EnvoyNode* add(const YamlNode& node, const EnvoyNode::Traits& traits,
                 const std::string& composite_key, const Place& place) {
    EnvoyNode* const added = place.parent->add(traits);
    const auto [first, is_new] = lines_.try_emplace(composite_key, node.position().line);
    if (added == nullptr) {
      node.error("duplicate descriptor composite key '" + composite_key + "'; first in line " +
                 std::to_string(first->second));
    }
    return added;
  }

  Rule read_rule(const YamlNode& node, const EnvoyFields& fields) const {
    const std::optional<YamlNode> metadata = fields.find("metadata");
    return {.domain = domain_,
            .name = {},
            .shadow = fields.flag("shadow_mode"),
            .quota_mode = fields.flag("quota_mode"),
            .metadata = metadata ? read_metadata(*metadata) : MetadataMap{},
            .source = {.file = root_.file(), .line = node.position().line}};
  }

  void add_rule(EnvoyNode& here, const std::vector<const EnvoyNode*>& path,
                const std::string& composite_key, EnvoyRateLimit limit, Rule rule) {
    rule.name = unique_name(path, composite_key.substr(domain_.size() + 1));
    rule.given_name = std::move(limit.name);
    rule.metric = composite_key;
    rule.action = limit.action;
    if (limit.quota) rule.limits.push_back({.name = {}, .quota = *limit.quota});
    for (const EnvoyNode* node : path) rule.key.push_back({.name = node->traits().key});
    rule.on_failure = limit.on_failure;
    rule.terms = limit.terms;
    rule.count_denied = limit.count_denied;
    const Rule& kept = builder_.add_rule(std::move(rule));
    here.set_rule(kept, std::move(limit.replaces));
    paths_.push_back({.rule = &kept, .nodes = path});
  }

  // The names along the path, joined with dots. When dots within names make two paths equal, the
  // second has them doubled.
  std::string unique_name(const std::vector<const EnvoyNode*>& path, std::string name) {
    if (!names_.insert(name).second) {
      name.clear();
      for (const EnvoyNode* node : path) {
        if (!name.empty()) name += '.';
        for (const char c : node->name()) name.append(c == '.' ? 2 : 1, c);
      }
      while (!names_.insert(name).second) name += '\'';
    }
    return name;
  }

  const YamlNode& root_;
  EnvoyFields fields_;
  RulesetBuilder& builder_;
  std::string domain_;
  EnvoyDefaults defaults_;
  std::vector<EnvoyPath> paths_;
  std::unordered_set<std::string> names_;
  base::TextMap<std::size_t> lines_;  // of each composite key
};

}  // namespace

bool is_envoy_format(const YamlNode& root) {
  return root.peek("domain") || root.peek("descriptors");
}

void load_envoy(const YamlNode& root, RulesetBuilder& builder) { EnvoyFile(root, builder).read(); }

}  // namespace penstock::rules
