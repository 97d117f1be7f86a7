#include "rules/yaml/yaml_builder.hpp"

#include "rules/yaml/utf8.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace penstock::rules {

Position position_of(const YAML::Mark& mark) {
  if (mark.line < 0 || mark.column < 0) return {};
  return {.line = static_cast<std::size_t>(mark.line) + 1,
          .column = static_cast<std::size_t>(mark.column) + 1};
}

void YamlBuilder::fail(Position position, std::string message) {
  if (!failed_) document_.report(Diagnostic::Severity::Error, position, std::move(message));
  failed_ = true;
}

void YamlBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (++documents_ > 1) fail(position_of(mark), "a second document; a file holds one only");
}

void YamlBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  add({.kind = YamlKind::Nothing, .position = position_of(mark)}, anchor);
}

void YamlBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  if (!is_utf8(value)) return fail(position_of(mark), "not UTF-8");
  const bool quoted = tag == "!";
  const bool nothing = !quoted && (value == "~" || value == "null" || value.empty());
  add({.kind = nothing ? YamlKind::Nothing : YamlKind::Text,
       .quoted = quoted,
       .position = position_of(mark),
       .text = value},
      anchor);
}

void YamlBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (failed_) return;
  const auto target = anchors_.find(anchor);
  if (target == anchors_.end()) return fail(position_of(mark), "an alias of nothing");
  if (std::find(open_.begin(), open_.end(), target->second) != open_.end()) {
    return fail(position_of(mark), "an alias of what it is part of");
  }
  attach(target->second);
}

void YamlBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  open(YamlKind::List, mark, anchor);
}

void YamlBuilder::OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/,
                             YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  open(YamlKind::Map, mark, anchor);
}

void YamlBuilder::OnMapEnd() {
  if (failed_) return;
  merge(open_.back());
  close();
}

std::optional<std::uint32_t> YamlBuilder::add(YamlItem item, YAML::anchor_t anchor) {
  if (failed_) return std::nullopt;
  if (document_.items_.size() >= YamlDocument::kMaxItems) {
    fail(item.position,
         "more than " + std::to_string(YamlDocument::kMaxItems) + " values in one file");
    return std::nullopt;
  }
  const auto index = static_cast<std::uint32_t>(document_.items_.size());
  document_.items_.push_back(std::move(item));
  weights_.push_back(1);
  if (anchor != 0) anchors_[anchor] = index;
  if (document_.items_[index].kind == YamlKind::Nothing ||
      document_.items_[index].kind == YamlKind::Text) {
    attach(index);
  }
  return index;
}

void YamlBuilder::attach(std::uint32_t index) {
  if (open_.empty()) {
    document_.root_ = index;
    return;
  }
  const std::uint32_t parent = open_.back();
  document_.items_[parent].children.push_back(index);
  weights_[parent] += weights_[index];
  if (weights_[parent] > YamlDocument::kMaxItems) {
    fail(document_.items_[index].position, "more than " + std::to_string(YamlDocument::kMaxItems) +
                                               " values once its aliases are followed");
  }
}

void YamlBuilder::open(YamlKind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (!failed_ && open_.size() == YamlDocument::kMaxDepth) {
    fail(position_of(mark),
         "nested deeper than " + std::to_string(YamlDocument::kMaxDepth) + " levels");
  }
  if (const auto index = add({.kind = kind, .position = position_of(mark)}, anchor)) {
    open_.push_back(*index);
  }
}

void YamlBuilder::close() {
  if (failed_) return;
  const std::uint32_t index = open_.back();
  open_.pop_back();
  attach(index);
}

// `<<: *defaults` merges the keys of that map, `<<: [*a, *b]` those of several. Explicit keys take
// precedence, then the first map.
void YamlBuilder::merge(std::uint32_t map) {
  std::vector<std::uint32_t> written = std::move(document_.items_[map].children);
  std::vector<std::uint32_t>& children = document_.items_[map].children;
  children.clear();
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 0; i + 1 < written.size(); i += 2) {
    const YamlItem& key = document_.items_[written[i]];
    if (key.kind == YamlKind::Text && !key.quoted && key.text == "<<") {
      sources.push_back(written[i + 1]);
    } else {
      children.insert(children.end(), {written[i], written[i + 1]});
    }
  }
  if (sources.empty()) return;
  std::unordered_set<std::string_view> present;
  for (std::size_t i = 0; i < children.size(); i += 2) {
    present.insert(document_.items_[children[i]].text);
  }
  for (const std::uint32_t source : sources) {
    if (document_.items_[source].kind == YamlKind::List) {
      for (const std::uint32_t one : document_.items_[source].children) {
        merge_from(one, present, children);
      }
    } else {
      merge_from(source, present, children);
    }
  }
}

// Merged keys add no weight: the alias was counted already.
void YamlBuilder::merge_from(std::uint32_t source, std::unordered_set<std::string_view>& present,
                             std::vector<std::uint32_t>& children) {
  const YamlItem& from = document_.items_[source];
  if (from.kind != YamlKind::Map) return fail(from.position, "<< merges maps only");
  for (std::size_t i = 0; i < from.children.size(); i += 2) {
    if (!present.insert(document_.items_[from.children[i]].text).second) continue;
    children.push_back(from.children[i]);
    children.push_back(from.children[i + 1]);
  }
}

}  // namespace penstock::rules
