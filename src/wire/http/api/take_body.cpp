#include "wire/http/api/take_body.hpp"

#include "http/members.hpp"
#include "wire/http/api/call.hpp"

#include <optional>
#include <utility>

namespace penstock::http {
namespace {

rules::OnFailure read_on_failure(Members& members, rules::OnFailure usual) {
  const std::optional<std::string_view> written = members.text("on_failure");
  if (!written) return usual;
  const std::string_view word = *written;
  if (word == "open") return rules::OnFailure::Open;
  if (word == "local") return rules::OnFailure::Local;
  if (word != "closed") {
    members.complain("on_failure", shown(word) + " must be open, closed or local");
  }
  return rules::OnFailure::Closed;
}

}  // namespace

Result<TakeAsked> read_take(const Json& json, rules::OnFailure on_failure) {
  Members members(json, "");
  std::string key(members.required_text("key", kMaxKeyBytes));
  const std::optional<Quota> quota = members.quota();
  const Cost cost = members.cost().value_or(Cost{});
  const rules::OnFailure chosen = read_on_failure(members, on_failure);
  if (!quota) members.complain("limit", "missing; as in 100/m");
  const Result<void> read = members.finish();
  if (!read) return read.error();
  return TakeAsked{
      .check = {.name = {.subject = std::move(key), .limit = {}}, .quota = *quota, .cost = cost},
      .on_failure = chosen};
}

}  // namespace penstock::http
