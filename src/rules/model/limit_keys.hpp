#pragma once

#include "core/named_check.hpp"
#include "penstock/quota.hpp"
#include "rules/model/rule.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Names of limit keys, for all rule formats. The subject is the key of a rule:
// "api_key=abc&path=/v1", in the order of the rule's key. In names and values the characters % & =
// and control characters are written %XX, so that subjects are unique. The limit is "domain/rule",
// or "domain/rule/limit" when it has a name; there % and / are written %XX.
namespace penstock::rules {

// Appends "name=value", after a "&" unless it is the first.
void append_subject(std::string& subject, std::string_view name, std::string_view value);

// The value alone, escaped.
void append_escaped_value(std::string& subject, std::string_view value);

[[nodiscard]] std::string limit_name(std::string_view domain, std::string_view rule,
                                     std::string_view limit);
// Of a limit sent with the request; limits with different periods have different keys.
[[nodiscard]] std::string request_limit_name(std::string_view domain, const Quota& quota);

// Names and values of a subject; empty when it is malformed.
using SubjectParts = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::optional<SubjectParts> parse_subject(std::string_view subject);

// The value as it is used in the key: an address is reduced to its network, in canonical form.
[[nodiscard]] std::string key_value(const KeyPart& part, std::string_view value);

}  // namespace penstock::rules
