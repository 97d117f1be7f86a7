#include "http/json_object_reader.hpp"

#include "core/duration_text.hpp"
#include "rules/yaml/diagnostic.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace penstock::http {
namespace {

constexpr std::size_t kMaxQuoted = 64;

std::string truncated(std::string_view text) {
  std::string start(text.substr(0, kMaxQuoted));
  if (text.size() > kMaxQuoted) start += "...";
  return start;
}

}  // namespace

std::string quote(std::string_view value) { return "\"" + truncated(value) + "\""; }

std::string quote_json(const Json& value) {
  if (value.is_string()) return quote(std::string_view(*value.get_ptr<const std::string*>()));
  if (value.is_array()) return value.empty() ? "[]" : "[...]";
  if (value.is_object()) return value.empty() ? "{}" : "{...}";
  return truncated(to_text(value));
}

Result<Duration> read_duration(std::string_view path, std::string_view text, Duration least,
                               Duration most) {
  const std::optional<Duration> length = core::parse_duration(text);
  if (length && *length >= least && *length <= most) return *length;
  return Error{ErrorCode::InvalidInput,
               std::string(path) + ": " + quote(text) +
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
    return Error{quota.error().code, "limit: " + quote(text.limit) + ": " + quota.error().detail};
  }
  return quota;
}

JsonObjectReader::JsonObjectReader(const Json& object, std::string path, OnNull on_null)
    : object_(object), path_(std::move(path)), on_null_(on_null) {
  if (!object.is_object()) {
    const std::string name =
        path_.empty() ? "body" : path_.substr(0, path_.size() - 1);  // without its dot
    error_ = name + ": " + quote_json(object) + " must be an object";
  }
}

bool JsonObjectReader::has(std::string_view name) const {
  return object_.is_object() && object_.contains(name);
}

const Json* JsonObjectReader::take(std::string_view name) {
  known_.push_back(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  if (found == object_.end()) return nullptr;
  if (!found->is_null()) return &*found;
  if (on_null_ == OnNull::Reject) add_error(name, "must not be null; leave it out");
  return nullptr;
}

const Json* JsonObjectReader::any(std::string_view name) { return take(name); }

std::optional<std::string_view> JsonObjectReader::text(std::string_view name) {
  const Json* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = value->get_ptr<const std::string*>()) return *text;
  add_error(name, quote_json(*value) + " must be a text");
  return std::nullopt;
}

std::string_view JsonObjectReader::required_text(std::string_view name, std::size_t most) {
  const std::optional<std::string_view> value = text(name);
  if (!value) {
    add_error(name, "missing");
  } else if (value->empty()) {
    add_error(name, "must not be empty");
  } else if (value->size() > most) {
    add_error(name, std::to_string(value->size()) + " bytes; at most " + std::to_string(most));
  }
  return value.value_or(std::string_view{});
}

std::optional<std::uint64_t> JsonObjectReader::parse_number(std::string_view name,
                                                            std::uint64_t most) {
  const Json* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() <= most) {
    return value->get<std::uint64_t>();
  }
  add_error(name, quote_json(*value) + " must be a whole number from 0 to " + std::to_string(most));
  return std::nullopt;
}

std::optional<Duration> JsonObjectReader::duration(std::string_view name, Duration least,
                                                   Duration most) {
  const std::optional<std::string_view> given = text(name);
  if (!given) return std::nullopt;
  const Result<Duration> length = read_duration(path_of(name), *given, least, most);
  if (length) return *length;
  if (!error_) error_ = length.error().detail;
  return std::nullopt;
}

std::optional<Cost> JsonObjectReader::cost() {
  const std::optional<std::uint64_t> units = parse_number("cost", kMaxCost);
  if (!units) return std::nullopt;
  return Cost{*units};
}

std::optional<Quota> JsonObjectReader::quota() {
  const std::optional<std::string_view> limit = text("limit");
  const std::optional<std::uint64_t> burst =
      parse_number("burst", static_cast<std::uint64_t>(Quota::kMaxLimit));
  const std::optional<std::string_view> algorithm = text("algorithm");
  if (!limit) {
    if (burst) add_error("burst", "needs a limit beside it");
    if (algorithm) add_error("algorithm", "needs a limit beside it");
    return std::nullopt;
  }
  QuotaText parts{.limit = *limit, .algorithm = algorithm};
  if (burst) parts.burst = static_cast<std::int64_t>(*burst);
  const Result<Quota> quota = read_quota(parts);
  if (quota) return *quota;
  if (!error_) error_ = path_ + quota.error().detail;
  return std::nullopt;
}

const Json* JsonObjectReader::object(std::string_view name) {
  const Json* value = take(name);
  if (value == nullptr || value->is_object()) return value;
  add_error(name, quote_json(*value) + " must be an object");
  return nullptr;
}

const Json* JsonObjectReader::array(std::string_view name, std::size_t most) {
  const Json* value = take(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    add_error(name, quote_json(*value) + " must be an array");
    return nullptr;
  }
  if (value->size() <= most) return value;
  add_error(name, std::to_string(value->size()) + " elements; at most " + std::to_string(most));
  return nullptr;
}

std::string JsonObjectReader::path_of(std::string_view name) const {
  return path_ + std::string(name);
}

void JsonObjectReader::add_error(std::string_view name, std::string_view what) {
  if (!error_) error_ = path_of(name) + ": " + std::string(what);
}

std::optional<std::string> JsonObjectReader::unknown_member() const {
  if (!object_.is_object()) return std::nullopt;
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string hint = rules::suggestion(name, known_);
    std::string text = path_ + truncated(name) + ": unknown member" + hint;
    for (std::size_t i = 0; hint.empty() && i < known_.size(); ++i) {
      text += (i == 0 ? "; known are " : ", ") + std::string(known_[i]);
    }
    return text;
  }
  return std::nullopt;
}

Result<void> JsonObjectReader::finish() {
  // First, because a misspelt member is why another one is missing.
  if (const std::optional<std::string> unknown = unknown_member()) {
    return Error{ErrorCode::InvalidInput, *unknown};
  }
  if (error_) return Error{ErrorCode::InvalidInput, *error_};
  return {};
}

}  // namespace penstock::http
