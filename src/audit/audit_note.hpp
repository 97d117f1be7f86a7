#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The note about the audit of a shared store, under KeyLayout::audit(): the daemon that creates the
// key runs the audit and stores the result there.
namespace penstock::audit {

[[nodiscard]] std::string audit_claim_note(std::string_view node);
[[nodiscard]] std::string audit_result_note(std::uint64_t orphans);

// The number of orphans in the last audit; empty while an audit runs or if the note is malformed.
[[nodiscard]] std::optional<std::uint64_t> orphans_from_note(std::string_view note);

}  // namespace penstock::audit
