#include "audit/audit_note.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::audit {
namespace {

RC_GTEST_PROP(AuditNote, SaysWhatWasFound, (std::uint64_t orphans)) {
  RC_ASSERT(orphans_in(found_note(orphans)) == orphans);
}

RC_GTEST_PROP(AuditNote, SaysNothingWhileSomebodyLooks, (const std::string& node)) {
  RC_ASSERT(!orphans_in(auditing_note(node)));
}

TEST(AuditNote, OfSomebodyElseSaysNothing) {
  for (const char* note : {"", "found", "found ", "found 1x", "found -1", "FOUND 1", "1"}) {
    EXPECT_FALSE(orphans_in(note)) << note;
  }
}

}  // namespace
}  // namespace penstock::audit
