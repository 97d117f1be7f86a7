#pragma once

#include "rules/yaml/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace penstock::rules {

[[nodiscard]] Position position_of(const YAML::Mark& mark);

// Builds the tree from parser events. After the first error it ignores the rest: it cannot stop the
// parser.
class YamlBuilder final : public YAML::EventHandler {
 public:
  explicit YamlBuilder(YamlDocument& document) : document_(document) {}

  [[nodiscard]] bool has_failed() const noexcept { return failed_; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  void fail(Position position, std::string message);
  // Adds to the container that is open, or as the root.
  std::optional<std::uint32_t> add(YamlItem item, YAML::anchor_t anchor);
  void attach(std::uint32_t index);
  void open(YamlKind kind, const YAML::Mark& mark, YAML::anchor_t anchor);
  void close();
  void merge(std::uint32_t map);
  void merge_from(std::uint32_t source, std::unordered_set<std::string_view>& present,
                  std::vector<std::uint32_t>& children);

  YamlDocument& document_;
  std::vector<std::size_t> weights_;  // of each item: number of items after alias expansion
  std::vector<std::uint32_t> open_;
  std::unordered_map<YAML::anchor_t, std::uint32_t> anchors_;
  std::size_t documents_ = 0;
  bool failed_ = false;
};

}  // namespace penstock::rules
