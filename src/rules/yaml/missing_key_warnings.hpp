#pragma once

#include "rules/yaml/condition_format.hpp"

namespace penstock::rules {

// Warns of rules that a client evades by leaving something out: their key has an attribute that
// clients supply, requests without it are skipped, and no other rule limits these. A rule that says
// `if_missing` means it.
void warn_of_requests_without_key(const DomainDraft& draft);

}  // namespace penstock::rules
