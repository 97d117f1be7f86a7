#include "audit/audit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace penstock::audit {
namespace {

RC_GTEST_PROP(AuditNote, HasTheResultOfTheLastAudit, (std::uint64_t orphans)) {
  RC_ASSERT(orphans_from_note(audit_result_note(orphans)) == orphans);
}

RC_GTEST_PROP(AuditNote, HasNoResultWhileAnAuditRuns, (const std::string& node)) {
  RC_ASSERT(!orphans_from_note(audit_claim_note(node)));
}

TEST(AuditNote, OfAnUnknownFormatIsIgnored) {
  for (const char* note : {"", "found", "found ", "found 1x", "found -1", "FOUND 1", "1"}) {
    EXPECT_FALSE(orphans_from_note(note)) << note;
  }
}

}  // namespace
}  // namespace penstock::audit
