#include "store/operator_store.hpp"

#include <algorithm>
#include <array>

namespace penstock::store {
namespace {

// In the order of OperatorAction::Kind.
constexpr std::array<std::string_view, 5> kActionKinds{"block", "unblock", "reset", "override_set",
                                                       "override_remove"};

}  // namespace

std::string effect_text(const Override& set) {
  switch (set.effect) {
    case Override::Effect::Limit: return "limit " + set.value;
    case Override::Effect::Multiply: return "multiply " + set.value;
    case Override::Effect::Shadow: break;
  }
  return "shadow";
}

std::string_view to_string(OperatorAction::Kind kind) noexcept {
  return kActionKinds[static_cast<std::size_t>(kind)];
}

std::optional<OperatorAction::Kind> parse_action_kind(std::string_view name) noexcept {
  const auto* const found = std::find(kActionKinds.begin(), kActionKinds.end(), name);
  if (found == kActionKinds.end()) return std::nullopt;
  return static_cast<OperatorAction::Kind>(found - kActionKinds.begin());
}

Error too_many_overrides() {
  return {ErrorCode::CapacityExhausted, "there are " +
                                            std::to_string(OperatorStore::kMaxOverrides) +
                                            " overrides already, the most; remove some of them"};
}

OperatorAction action_of(const Override& set, OperatorAction::Kind kind) {
  return {.kind = kind,
          .by = set.by,
          .rule = set.rule,
          .subject = set.subject,
          .detail = effect_text(set),
          .reason = set.reason};
}

}  // namespace penstock::store
