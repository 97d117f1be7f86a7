#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What daemons that share a store tell each other about its audit, under KeyLayout::audit(): who
// makes the key audits, and leaves there what was found.
namespace penstock::audit {

[[nodiscard]] std::string audit_claim_note(std::string_view node);
[[nodiscard]] std::string audit_result_note(std::uint64_t orphans);

// How many orphans the last audit found; nothing while somebody is still looking, or when the note
// is none of ours.
[[nodiscard]] std::optional<std::uint64_t> orphans_from_note(std::string_view note);

}  // namespace penstock::audit
