#include "http/target.hpp"

#include "http/json_object_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

namespace penstock::http {
namespace {

// More than any of our calls has; a query is no place for lists.
constexpr std::size_t kMaxParameters = 16;

std::string with_blanks(std::string_view text) {
  std::string copy(text);
  for (char& letter : copy) {
    if (letter == '+') letter = ' ';
  }
  return copy;
}

}  // namespace

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> parts;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

Parameters::Parameters(std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view rest = pair.substr(std::min(equals + 1, pair.size()));
    std::optional<std::string> name = percent_decoded(with_blanks(pair.substr(0, equals)));
    std::optional<std::string> value = percent_decoded(with_blanks(rest));
    if (!name || !value) {
      add_error("query: " + quote(pair) + " is not percent-encoded");
      return;
    }
    if (parameters_.size() == kMaxParameters) {
      add_error("query: more than " + std::to_string(kMaxParameters) + " parameters");
      return;
    }
    parameters_.push_back({std::move(*name), std::move(*value)});
  }
}

std::optional<std::string_view> Parameters::text(std::string_view name) {
  known_ += (known_.empty() ? "" : ", ") + std::string(name);
  const Parameter* found = nullptr;
  for (Parameter& parameter : parameters_) {
    if (parameter.name != name) continue;
    if (found != nullptr) add_error(std::string(name) + ": given twice");
    parameter.taken = true;
    found = &parameter;
  }
  if (found == nullptr) return std::nullopt;
  return found->value;
}

std::optional<std::int64_t> Parameters::parse_number(std::string_view name, std::int64_t least,
                                                     std::int64_t most) {
  const std::optional<std::string_view> given = text(name);
  if (!given) return std::nullopt;
  std::int64_t value = 0;
  const char* end = given->data() + given->size();
  const auto [stop, failure] = std::from_chars(given->data(), end, value);
  if (failure == std::errc{} && stop == end && value >= least && value <= most) return value;
  add_error(std::string(name) + ": " + quote(*given) + " must be a whole number from " +
            std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> Parameters::take_rest() {
  std::vector<std::pair<std::string_view, std::string_view>> rest;
  for (Parameter& parameter : parameters_) {
    if (parameter.taken) continue;
    const auto has_name = [&](const auto& other) { return other.first == parameter.name; };
    if (std::any_of(rest.begin(), rest.end(), has_name))
      add_error(parameter.name + ": given twice");
    parameter.taken = true;
    rest.emplace_back(parameter.name, parameter.value);
  }
  return rest;
}

void Parameters::add_error(const std::string& what) {
  if (!error_) error_ = what;
}

Result<void> Parameters::finish() const {
  if (error_) return Error{ErrorCode::InvalidInput, *error_};
  for (const Parameter& parameter : parameters_) {
    if (parameter.taken) continue;
    const std::string hint = known_.empty() ? "there are none here" : "known are " + known_;
    return Error{ErrorCode::InvalidInput,
                 "query: unknown parameter " + quote(parameter.name) + "; " + hint};
  }
  return {};
}

std::string host_name(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos &&
      (host.starts_with('[') || host.find(':') == colon)) {
    host = host.substr(0, colon);
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return base::lower_case(host);
}

}  // namespace penstock::http
