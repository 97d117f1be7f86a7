#include "audit/audit_note.hpp"

#include <charconv>

namespace penstock::audit {
namespace {

constexpr std::string_view kAuditing = "auditing ";
constexpr std::string_view kFound = "found ";

}  // namespace

std::string audit_claim_note(std::string_view node) {
  return std::string(kAuditing) + std::string(node);
}

std::string audit_result_note(std::uint64_t orphans) {
  return std::string(kFound) + std::to_string(orphans);
}

std::optional<std::uint64_t> orphans_from_note(std::string_view note) {
  if (!note.starts_with(kFound)) return std::nullopt;
  note.remove_prefix(kFound.size());
  std::uint64_t orphans = 0;
  const char* const end = note.data() + note.size();
  const auto [stop, failure] = std::from_chars(note.data(), end, orphans);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return orphans;
}

}  // namespace penstock::audit
