#include "rules/yaml/yaml_document.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace penstock::rules {
namespace {

// Length of a character with this first byte; 0: invalid.
std::size_t length_of_character(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// The second byte reveals overlong forms, surrogates and values above U+10FFFF.
bool may_follow(unsigned char first, unsigned char second) noexcept {
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
  if (first == 0xE0) least = 0xA0;
  if (first == 0xED) most = 0x9F;
  if (first == 0xF0) least = 0x90;
  if (first == 0xF4) most = 0x8F;
  return second >= least && second <= most;
}

Position position_of(const YAML::Mark& mark) {
  if (mark.line < 0 || mark.column < 0) return {};
  return {.line = static_cast<std::size_t>(mark.line) + 1,
          .column = static_cast<std::size_t>(mark.column) + 1};
}

// The first tab before the content of this line, which counts from 1.
std::optional<Position> tab_in_indentation(std::string_view text, std::size_t line) {
  for (std::size_t i = 1; i < line; ++i) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  const std::size_t column = text.find_first_not_of(" -");
  if (column == std::string_view::npos || text[column] != '\t') return std::nullopt;
  return Position{.line = line, .column = column + 1};
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = length_of_character(first);
    if (length == 0 || length > text.size()) return false;
    if (length > 1 && !may_follow(first, static_cast<unsigned char>(text[1]))) return false;
    for (std::size_t i = 2; i < length; ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

// Builds the tree from parser events. After the first error it ignores the rest: it cannot stop the
// parser.
class YamlBuilder final : public YAML::EventHandler {
 public:
  explicit YamlBuilder(YamlDocument& document) : document_(document) {}

  [[nodiscard]] bool has_failed() const noexcept { return failed_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(position_of(mark), "a second document; a file holds one only");
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({.kind = YamlKind::Nothing, .position = position_of(mark)}, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (failed_) return;
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) return fail(position_of(mark), "an alias of nothing");
    if (std::find(open_.begin(), open_.end(), target->second) != open_.end()) {
      return fail(position_of(mark), "an alias of what it is part of");
    }
    attach(target->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!is_utf8(value)) return fail(position_of(mark), "not UTF-8");
    const bool quoted = tag == "!";
    const bool nothing = !quoted && (value == "~" || value == "null" || value.empty());
    add({.kind = nothing ? YamlKind::Nothing : YamlKind::Text,
         .quoted = quoted,
         .position = position_of(mark),
         .text = value},
        anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlKind::List, mark, anchor);
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlKind::Map, mark, anchor);
  }

  void OnSequenceEnd() override { close(); }

  void OnMapEnd() override {
    if (failed_) return;
    merge(open_.back());
    close();
  }

  void OnDocumentEnd() override {}

 private:
  void fail(Position position, std::string message) {
    if (!failed_) document_.report(Diagnostic::Severity::Error, position, std::move(message));
    failed_ = true;
  }

  std::optional<std::uint32_t> add(YamlItem item, YAML::anchor_t anchor) {
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

  void attach(std::uint32_t index) {
    if (open_.empty()) {
      document_.root_ = index;
      return;
    }
    const std::uint32_t parent = open_.back();
    document_.items_[parent].children.push_back(index);
    weights_[parent] += weights_[index];
    if (weights_[parent] > YamlDocument::kMaxItems) {
      fail(document_.items_[index].position, "more than " +
                                                 std::to_string(YamlDocument::kMaxItems) +
                                                 " values once its aliases are followed");
    }
  }

  void open(YamlKind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (!failed_ && open_.size() == YamlDocument::kMaxDepth) {
      fail(position_of(mark),
           "nested deeper than " + std::to_string(YamlDocument::kMaxDepth) + " levels");
    }
    if (const auto index = add({.kind = kind, .position = position_of(mark)}, anchor)) {
      open_.push_back(*index);
    }
  }

  void close() {
    if (failed_) return;
    const std::uint32_t index = open_.back();
    open_.pop_back();
    attach(index);
  }

  // `<<: *defaults` merges the keys of that map, `<<: [*a, *b]` those of several. Explicit keys
  // take precedence, then the first map.
  void merge(std::uint32_t map) {
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
  void merge_from(std::uint32_t source, std::unordered_set<std::string_view>& present,
                  std::vector<std::uint32_t>& children) {
    const YamlItem& from = document_.items_[source];
    if (from.kind != YamlKind::Map) return fail(from.position, "<< merges maps only");
    for (std::size_t i = 0; i < from.children.size(); i += 2) {
      if (!present.insert(document_.items_[from.children[i]].text).second) continue;
      children.push_back(from.children[i]);
      children.push_back(from.children[i + 1]);
    }
  }

  YamlDocument& document_;
  std::vector<std::size_t> weights_;  // of each item: number of items after alias expansion
  std::vector<std::uint32_t> open_;
  std::unordered_map<YAML::anchor_t, std::uint32_t> anchors_;
  std::size_t documents_ = 0;
  bool failed_ = false;
};

void YamlDocument::report(Diagnostic::Severity severity, Position position,
                          std::string message) const {
  rules::report(*diagnostics_, {.severity = severity,
                                .file = file_,
                                .line = position.line,
                                .column = position.column,
                                .message = std::move(message)});
}

std::unique_ptr<const YamlDocument> YamlDocument::parse(std::string_view text, std::string file,
                                                        Diagnostics& diagnostics) {
  std::unique_ptr<YamlDocument> document(new YamlDocument(std::move(file), diagnostics));
  const auto reject = [&](Position position, std::string message) {
    document->report(Diagnostic::Severity::Error, position, std::move(message));
    return nullptr;
  };
  if (text.size() > kMaxBytes) {
    return reject({}, std::to_string(text.size()) + " bytes; a file may have " +
                          std::to_string(kMaxBytes) + " at most");
  }
  YamlBuilder builder(*document);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (!builder.has_failed() && parser.HandleNextDocument(builder)) continue;
  } catch (const YAML::DeepRecursion& failure) {
    if (builder.has_failed()) return nullptr;
    return reject(position_of(failure.mark), "nested too deeply");
  } catch (const YAML::Exception& failure) {
    if (builder.has_failed()) return nullptr;
    const Position found = position_of(failure.mark);
    if (const std::optional<Position> tab = tab_in_indentation(text, found.line)) {
      return reject(*tab, "a tab in the indentation; YAML allows only spaces there");
    }
    return reject(found, "not YAML: " + failure.msg);
  } catch (const std::exception& failure) {
    if (builder.has_failed()) return nullptr;
    return reject({}, std::string("not YAML: ") + failure.what());
  }
  if (builder.has_failed()) return nullptr;
  if (document->items_.empty()) document->items_.push_back({.position = {.line = 1, .column = 1}});
  return document;
}

}  // namespace penstock::rules
