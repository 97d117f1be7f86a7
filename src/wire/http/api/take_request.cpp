#include "wire/http/api/take_request.hpp"

#include "http/json_object_reader.hpp"
#include "wire/http/api/call.hpp"

#include <optional>
#include <utility>

namespace penstock::http {
namespace {

rules::OnFailure read_on_failure(JsonObjectReader& object, rules::OnFailure usual) {
  const std::optional<std::string_view> written = object.text("on_failure");
  if (!written) return usual;
  const std::string_view word = *written;
  if (word == "open") return rules::OnFailure::Open;
  if (word == "local") return rules::OnFailure::Local;
  if (word != "closed") {
    object.add_error("on_failure", quote(word) + " must be open, closed or local");
  }
  return rules::OnFailure::Closed;
}

}  // namespace

Result<TakeRequest> read_take(const Json& json, rules::OnFailure on_failure) {
  JsonObjectReader object(json, "");
  std::string key(object.required_text("key", kMaxKeyBytes));
  const std::optional<Quota> quota = object.quota();
  const Cost cost = object.cost().value_or(Cost{});
  const rules::OnFailure chosen = read_on_failure(object, on_failure);
  if (!quota) object.add_error("limit", "missing; as in 100/m");
  const Result<void> read = object.finish();
  if (!read) return read.error();
  return TakeRequest{
      .check = {.name = {.subject = std::move(key), .limit = {}}, .quota = *quota, .cost = cost},
      .on_failure = chosen};
}

}  // namespace penstock::http
