#include "redis_store/redis_operator_store.hpp"

#include "base/text.hpp"
#include "redis_store/replay/state_codec.hpp"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace penstock::redis_store {
namespace {

using store::OperatorAction;
using store::OperatorStore;
using store::Override;

constexpr unsigned kTimeBytes = 7;
constexpr unsigned kLengthBytes = 4;
constexpr unsigned kEffectLengthBytes = 2;

// Consumes an encoding from the front; is_good() until a part is missing.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint64_t number(unsigned bytes) {
    const std::string_view part = take(bytes);
    return part.size() < bytes ? 0 : PackedReader(part).number(bytes);
  }
  [[nodiscard]] Instant time() {
    return Instant{Duration{static_cast<std::int64_t>(number(kTimeBytes))}};
  }
  [[nodiscard]] std::string text(unsigned length_bytes = kLengthBytes) {
    return std::string(take(number(length_bytes)));
  }
  [[nodiscard]] std::string rest() { return std::string(take(rest_.size())); }
  [[nodiscard]] bool is_good() const noexcept { return is_good_; }

 private:
  std::string_view take(std::size_t bytes) {
    is_good_ = is_good_ && rest_.size() >= bytes;
    const std::string_view part = rest_.substr(0, bytes);
    rest_.remove_prefix(part.size());
    return part;
  }

  std::string_view rest_;
  bool is_good_ = true;
};

void write_texts(PackedWriter& writer, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) writer.number(text.size(), kLengthBytes).text(text);
}

// Reads effect_text().
bool read_effect(const std::string& text, Override& out) {
  const std::size_t space = text.find(' ');
  const std::string_view word = std::string_view(text).substr(0, space);
  if (space != std::string::npos) out.value = text.substr(space + 1);
  if (word == "limit") out.effect = Override::Effect::Limit;
  if (word == "multiply") out.effect = Override::Effect::Multiply;
  if (word == "shadow") out.effect = Override::Effect::Shadow;
  return word == "limit" || word == "multiply" || word == "shadow";
}

// Unique for a rule and a subject.
std::string field_of(const Override& set) {
  return std::to_string(set.rule.size()) + ":" + set.rule + set.subject;
}

std::string as_milliseconds(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

// The reply of override.lua: whether it was done, the time and the previous value.
struct ChangeReply {
  bool done = false;
  Instant now{};
  std::optional<Override> before{};
};

Result<ChangeReply> read_change(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  if (parts.size() < 2 || !parts[0].is(resp::Value::Type::Integer)) {
    return malformed("not an override");
  }
  if (parts[0].integer < 0) return store::too_many_overrides();
  const Result<Instant> now = read_instant(parts[1]);
  if (!now) return now.error();
  ChangeReply change{.done = parts[0].integer == 1, .now = *now};
  if (parts.size() > 2) change.before = decode_override(parts[2].text);
  return change;
}

Result<store::OverrideList> read_list(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  const std::vector<resp::Value>& parts = reply->elements;
  if (parts.size() < 2) return malformed("no list of overrides");
  const auto version = base::parse_number<std::uint64_t>(parts[1].text);
  if (!version) return malformed("invalid version \"" + parts[1].text + "\"");
  store::OverrideList list{.version = *version};
  if (parts.size() == 2) return list;
  list.overrides.emplace();
  for (std::size_t i = 3; i < parts.size(); ++i) {
    std::optional<Override> each = decode_override(parts[i].text);
    if (each) list.overrides->push_back(*std::move(each));  // a newer version may write others
  }
  std::sort(list.overrides->begin(), list.overrides->end(), [](const auto& a, const auto& b) {
    return std::tie(a.rule, a.subject) < std::tie(b.rule, b.subject);
  });
  return list;
}

Result<std::vector<OperatorAction>> read_actions(const Result<resp::Value>& reply) {
  if (!reply) return reply.error();
  if (!reply->is(resp::Value::Type::Array)) return malformed("no list of actions");
  std::vector<OperatorAction> actions;
  for (const resp::Value& entry : reply->elements) {
    std::optional<OperatorAction> action = decode_action(entry.text);
    if (action) actions.push_back(*std::move(action));  // a newer version may log other kinds
  }
  return actions;
}

}  // namespace

base::Deadline RedisOperatorStore::within(base::Deadline deadline) const {
  return std::min(deadline, base::deadline_after(timeout_));
}

void RedisOperatorStore::change(const Override& change, Duration lasts, base::Deadline deadline,
                                OnReply replied) {
  const bool is_removal = lasts == Duration{0};
  OperatorAction action = action_of(change, is_removal ? OperatorAction::Kind::OverrideRemove
                                                       : OperatorAction::Kind::OverrideSet);
  if (is_removal) action.detail.clear();  // the script appends what was removed
  const std::string overrides = layout_.overrides();
  const std::string actions = layout_.actions();
  store_->run_change(
      store_->scripts().override_one, {overrides, actions},
      {field_of(change), std::to_string(lasts.count()), encode(change), encode(action),
       std::to_string(kMaxOverrides), std::to_string(kMaxActions), as_milliseconds(kKeepActions)},
      within(deadline), std::move(replied));
}

void RedisOperatorStore::set_override(Override set, Duration lasts, base::Deadline deadline,
                                      store::Answered<Override> answered) {
  if (store_ == nullptr) return answered(store_closed());
  change(set, lasts, deadline,
         [set, lasts, answered = std::move(answered)](const Result<resp::Value>& reply) {
           const Result<ChangeReply> done = read_change(reply);
           if (!done) return answered(done.error());
           Override made = set;
           made.set_at = done->now;
           made.expires_at = done->now + lasts;
           answered(std::move(made));
         });
}

void RedisOperatorStore::remove_override(Override removed, base::Deadline deadline,
                                         store::Answered<std::optional<Override>> answered) {
  if (store_ == nullptr) return answered(store_closed());
  change(removed, Duration{0}, deadline,
         [answered = std::move(answered)](const Result<resp::Value>& reply) {
           const Result<ChangeReply> done = read_change(reply);
           if (!done) return answered(done.error());
           answered(done->before);
         });
}

void RedisOperatorStore::list_overrides(std::uint64_t known_version, base::Deadline deadline,
                                        store::Answered<store::OverrideList> answered) {
  if (store_ == nullptr) return answered(store_closed());
  store_->run(store_->scripts().list_overrides, {layout_.overrides()},
              {std::to_string(known_version)}, within(deadline), read_list, std::move(answered));
}

void RedisOperatorStore::append_action(OperatorAction action, Duration lasts,
                                       base::Deadline deadline, store::Answered<bool> answered) {
  if (store_ == nullptr) return answered(store_closed());
  store_->run(store_->scripts().action_log, {layout_.actions()},
              {"0", encode(action), std::to_string(lasts.count()), std::to_string(kMaxActions),
               as_milliseconds(kKeepActions)},
              within(deadline), read_flag, std::move(answered));
}

void RedisOperatorStore::list_actions(std::size_t most, base::Deadline deadline,
                                      store::Answered<std::vector<OperatorAction>> answered) {
  if (store_ == nullptr) return answered(store_closed());
  const std::size_t count = std::clamp<std::size_t>(most, 1, kMaxActions);
  store_->run(store_->scripts().action_log, {layout_.actions()}, {std::to_string(count)},
              within(deadline), read_actions, std::move(answered));
}

std::string encode(const Override& set) {
  PackedWriter writer;
  const std::string effect = effect_text(set);
  writer.number(effect.size(), kEffectLengthBytes).text(effect);
  write_texts(writer, {set.rule, set.subject, set.by, set.reason});
  return std::move(writer).bytes();
}

std::optional<Override> decode_override(std::string_view bytes) {
  EntryReader reader(bytes);
  Override set;
  set.set_at = reader.time();
  set.expires_at = reader.time();
  const std::string effect = reader.text(kEffectLengthBytes);
  set.rule = reader.text();
  set.subject = reader.text();
  set.by = reader.text();
  set.reason = reader.text();
  if (!reader.is_good() || !read_effect(effect, set)) return std::nullopt;
  return set;
}

std::string encode(const OperatorAction& action) {
  PackedWriter writer;
  write_texts(writer, {to_string(action.kind), action.by, action.rule, action.domain,
                       action.subject, action.reason});
  writer.text(action.detail);
  return std::move(writer).bytes();
}

std::optional<OperatorAction> decode_action(std::string_view bytes) {
  EntryReader reader(bytes);
  OperatorAction action;
  action.at = reader.time();
  const Instant expires = reader.time();
  if (expires != Instant{}) action.expires_at = expires;
  const auto kind = store::parse_action_kind(reader.text());
  action.by = reader.text();
  action.rule = reader.text();
  action.domain = reader.text();
  action.subject = reader.text();
  action.reason = reader.text();
  if (!reader.is_good() || !kind) return std::nullopt;
  action.kind = *kind;
  action.detail = reader.rest();
  return action;
}

}  // namespace penstock::redis_store
