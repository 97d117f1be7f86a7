// The only file that catches exceptions of nlohmann-json. Other files check the type of a value
// before they take it.
#include "http/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http {
namespace {

// Builds the value as the parser comes along, and stops it at the first thing that we do not take.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  Json take() { return std::move(root_); }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  bool null() override { return put(nullptr) != nullptr; }
  bool boolean(bool value) override { return put(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return put(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return put(value) != nullptr; }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return put(value) != nullptr;
  }
  bool string(string_t& value) override { return put(std::move(value)) != nullptr; }
  bool binary(binary_t& /*value*/) override { return false; }  // not of JSON

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    Open& object = open_.back();
    if (names_.size() - object.first_name == limits_.members) {
      return fail("more than " + std::to_string(limits_.members) + " members in one object");
    }
    // Hashes are compared in place of names: most members are found to be new without a look at the
    // others.
    const std::size_t hash = std::hash<std::string_view>{}(name);
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(object.first_name);
    if (std::find(begin, names_.end(), hash) != names_.end() && object.value->contains(name)) {
      return fail("\"" + name.substr(0, 64) + "\" is given twice");
    }
    names_.push_back(hash);
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& failure) override {
    constexpr int kOutOfRange = 400;  // and above; below are the errors of grammar
    return fail(failure.id >= kOutOfRange ? "a number is out of range"
                                          : "wrong at byte " + std::to_string(position));
  }

 private:
  bool fail(std::string why) {
    complaint_ = std::move(why);
    return false;
  }

  // Null when there are too many.
  template <class Value>
  Json* put(Value&& value) {
    if (++values_ > limits_.values) {
      fail("more than " + std::to_string(limits_.values) + " values");
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    Json& container = *open_.back().value;
    if (container.is_array()) {
      container.push_back(Json(std::forward<Value>(value)));
      return &container.back();
    }
    // Appended without the search for the name that emplace() would do: key() has done it.
    auto& members = container.get_ref<Json::object_t&>();
    return &static_cast<Members&>(members)
                .emplace_back(std::move(name_), std::forward<Value>(value))
                .second;
  }
  // Open containers do not move: only the innermost grows.
  bool open(Json container) {
    if (open_.size() == limits_.depth) {
      return fail("deeper than " + std::to_string(limits_.depth) + " levels");
    }
    Json* const value = put(std::move(container));
    if (value == nullptr) return false;
    open_.push_back({.value = value, .first_name = names_.size()});
    return true;
  }
  bool close() {
    names_.resize(open_.back().first_name);
    open_.pop_back();
    return true;
  }

  using Members = Json::object_t::Container;
  struct Open {
    Json* value;
    std::size_t first_name;  // of its members, in names_
  };

  JsonLimits limits_;
  Json root_;
  std::vector<Open> open_;
  std::vector<std::size_t> names_;  // hashes of the names in all objects that are open
  std::size_t values_ = 0;
  std::string name_;
  std::string complaint_;
};

// More digits in a row than any number needs: converting a megabyte of them takes twice as long as
// reading a text of that length.
bool has_long_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 64;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
    if (digits > kMostDigits) return true;
    if (text[i] != '"') continue;
    for (++i; i < text.size() && text[i] != '"'; ++i) {
      if (text[i] == '\\') ++i;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.empty()) return Error{ErrorCode::InvalidInput, "body: empty; expected JSON"};
  if (has_long_number(text)) {
    return Error{ErrorCode::InvalidInput, "body: not usable as JSON: a number is too long"};
  }
  try {
    Builder builder(limits);
    if (Json::sax_parse(text, &builder)) return builder.take();
    return Error{ErrorCode::InvalidInput, "body: not usable as JSON: " + builder.complaint()};
  } catch (const Json::exception& failure) {
    return Error{ErrorCode::InvalidInput,
                 std::string("body: not usable as JSON: ") + failure.what()};
  }
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::http
