// The one file that meets the exceptions of nlohmann-json; others ask for the type of a value
// before they take it.
#include "wire/http/json.hpp"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace penstock::wire::http {
namespace {

// Builds the value as the parser comes along, and stops it at the first thing that we do not take.
class Builder final : public nlohmann::json_sax<Json> {
 public:
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
    Json& object = *open_.back();
    // found one by one, so that there must not be many
    if (object.size() == kMaxJsonMembers) {
      return refuse("more than " + std::to_string(kMaxJsonMembers) + " members in one object");
    }
    if (object.contains(name)) return refuse("\"" + name.substr(0, 64) + "\" is given twice");
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& failure) override {
    constexpr int kOutOfRange = 400;  // and above; below are the errors of grammar
    return refuse(failure.id >= kOutOfRange ? "a number is out of range"
                                            : "wrong at byte " + std::to_string(position));
  }

 private:
  bool refuse(std::string why) {
    complaint_ = std::move(why);
    return false;
  }

  template <class Value>
  Json* put(Value&& value) {
    if (open_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    Json& container = *open_.back();
    if (container.is_array()) {
      container.push_back(Json(std::forward<Value>(value)));
      return &container.back();
    }
    return &container.emplace(std::move(name_), std::forward<Value>(value)).first.value();
  }
  // What is open stays where it is: only the innermost grows.
  bool open(Json container) {
    if (open_.size() == kMaxJsonDepth) {
      return refuse("deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    }
    open_.push_back(put(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
  std::string name_;
  std::string complaint_;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (text.empty()) return Error{ErrorCode::InvalidInput, "body: empty; expected JSON"};
  try {
    Builder builder;
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

}  // namespace penstock::wire::http
