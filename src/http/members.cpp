#include "http/members.hpp"

#include "core/duration_text.hpp"
#include "rules/yaml/closest_word.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::size_t kMaxShown = 64;

std::string cut(std::string_view text) {
  std::string shown(text.substr(0, kMaxShown));
  if (text.size() > kMaxShown) shown += "...";
  return shown;
}

}  // namespace

std::string shown(std::string_view value) { return "\"" + cut(value) + "\""; }

std::string shown_json(const Json& value) {
  if (value.is_string()) return shown(std::string_view(*value.get_ptr<const std::string*>()));
  if (value.is_array()) return value.empty() ? "[]" : "[...]";
  if (value.is_object()) return value.empty() ? "{}" : "{...}";
  return cut(to_text(value));
}

Result<Duration> read_duration(std::string_view place, std::string_view text, Duration least,
                               Duration most) {
  const std::optional<Duration> length = core::parse_duration(text);
  if (length && *length >= least && *length <= most) return *length;
  return Error{ErrorCode::InvalidInput,
               std::string(place) + ": " + shown(text) +
                   " must be a time such as 250ms, 10s, 5m, 2h or 1d, from " +
                   core::duration_text(least) + " to " + core::duration_text(most)};
}

Result<Quota> read_quota(const QuotaText& text) {
  Result<QuotaSpec> spec = QuotaSpec::parse(text.limit);
  if (!spec) return Error{spec.error().code, "limit: " + spec.error().detail};
  if (text.burst) spec->capacity = *text.burst;
  if (text.algorithm) {
    const Result<Algorithm> algorithm = parse_algorithm(*text.algorithm);
    if (!algorithm) return Error{algorithm.error().code, "algorithm: " + algorithm.error().detail};
    spec->algorithm = *algorithm;
  }
  Result<Quota> quota = Quota::make(*spec);
  if (!quota) {
    return Error{quota.error().code, "limit: " + shown(text.limit) + ": " + quota.error().detail};
  }
  return quota;
}

Members::Members(const Json& object, std::string place, OnNull on_null)
    : object_(object), place_(std::move(place)), on_null_(on_null) {
  if (!object.is_object()) {
    const std::string name =
        place_.empty() ? "body" : place_.substr(0, place_.size() - 1);  // without its dot
    complaint_ = name + ": " + shown_json(object) + " must be an object";
  }
}

bool Members::has(std::string_view name) const {
  return object_.is_object() && object_.contains(name);
}

const Json* Members::take(std::string_view name) {
  known_.push_back(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  if (found == object_.end()) return nullptr;
  if (!found->is_null()) return &*found;
  if (on_null_ == OnNull::Refuse) complain(name, "must not be null; leave it out");
  return nullptr;
}

const Json* Members::any(std::string_view name) { return take(name); }

std::optional<std::string_view> Members::text(std::string_view name) {
  const Json* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->get_ptr<const std::string*>()) return *text;
  complain(name, shown_json(*value) + " must be a text");
  return std::nullopt;
}

std::string_view Members::required_text(std::string_view name, std::size_t most) {
  const std::optional<std::string_view> value = text(name);
  if (!value) {
    complain(name, "missing");
  } else if (value->empty()) {
    complain(name, "must not be empty");
  } else if (value->size() > most) {
    complain(name, std::to_string(value->size()) + " bytes; at most " + std::to_string(most));
  }
  return value.value_or(std::string_view{});
}

std::optional<std::uint64_t> Members::whole_number(std::string_view name, std::uint64_t most) {
  const Json* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() <= most) {
    return value->get<std::uint64_t>();
  }
  complain(name, shown_json(*value) + " must be a whole number from 0 to " + std::to_string(most));
  return std::nullopt;
}

std::optional<Duration> Members::duration(std::string_view name, Duration least, Duration most) {
  const std::optional<std::string_view> given = text(name);
  if (!given) return std::nullopt;
  const Result<Duration> length = read_duration(place_of(name), *given, least, most);
  if (length) return *length;
  if (!complaint_) complaint_ = length.error().detail;
  return std::nullopt;
}

std::optional<Cost> Members::cost() {
  const std::optional<std::uint64_t> units = whole_number("cost", kMaxCost);
  if (!units) return std::nullopt;
  return Cost{*units};
}

std::optional<Quota> Members::quota() {
  const std::optional<std::string_view> limit = text("limit");
  const std::optional<std::uint64_t> burst =
      whole_number("burst", static_cast<std::uint64_t>(Quota::kMaxLimit));
  const std::optional<std::string_view> algorithm = text("algorithm");
  if (!limit) {
    if (burst) complain("burst", "needs a limit beside it");
    if (algorithm) complain("algorithm", "needs a limit beside it");
    return std::nullopt;
  }
  QuotaText parts{.limit = *limit, .algorithm = algorithm};
  if (burst) parts.burst = static_cast<std::int64_t>(*burst);
  const Result<Quota> quota = read_quota(parts);
  if (quota) return *quota;
  if (!complaint_) complaint_ = place_ + quota.error().detail;
  return std::nullopt;
}

const Json* Members::object(std::string_view name) {
  const Json* value = take(name);
  if (value == nullptr || value->is_object()) return value;
  complain(name, shown_json(*value) + " must be an object");
  return nullptr;
}

const Json* Members::array(std::string_view name, std::size_t most) {
  const Json* value = take(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    complain(name, shown_json(*value) + " must be an array");
    return nullptr;
  }
  if (value->size() <= most) return value;
  complain(name, std::to_string(value->size()) + " elements; at most " + std::to_string(most));
  return nullptr;
}

std::string Members::place_of(std::string_view name) const { return place_ + std::string(name); }

void Members::complain(std::string_view name, std::string_view what) {
  if (!complaint_) complaint_ = place_of(name) + ": " + std::string(what);
}

Result<void> Members::finish() {
  if (complaint_) return Error{ErrorCode::InvalidInput, *complaint_};
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    std::string list;
    std::string hint = rules::suggestion(name, known_);
    for (std::size_t i = 0; hint.empty() && i < known_.size(); ++i) {
      list += (i == 0 ? "; known are " : ", ") + std::string(known_[i]);
    }
    return Error{ErrorCode::InvalidInput, place_ + cut(name) + ": unknown member" + hint + list};
  }
  return {};
}

}  // namespace penstock::http
