#include "wire/http/rate_headers.hpp"

#include <algorithm>
#include <array>

namespace penstock::wire::http {
namespace {

using rules::HeaderDraft;
using std::chrono::seconds;

constexpr std::uint64_t kLargestInteger = 999'999'999'999'999;

std::string number(seconds wait) {
  return structured_integer(static_cast<std::uint64_t>(std::max(wait, seconds{0}).count()));
}

// Until more can be had: the wait of a refusal, so that it never contradicts Retry-After; else
// until nothing counts as used.
seconds seconds_to_more(const Decision& decision) {
  return retry_seconds(decision).value_or(ceil_seconds(decision.reset_after()));
}

// Rounded up: whoever spreads the quota over a longer window stays within it.
seconds window_of(const Quota& quota) { return ceil_seconds(quota.period()); }

void add_x_rate_limit(HeaderFields& fields, const Decision& decision) {
  fields.emplace_back("X-RateLimit-Limit", std::to_string(decision.limit()));
  fields.emplace_back("X-RateLimit-Remaining", std::to_string(decision.remaining()));
  fields.emplace_back("X-RateLimit-Reset", number(seconds_to_more(decision)));
}

// "100;w=60, 5000;w=86400". Drafts 06 and 07 do not let two policies share a quota; of those that
// do, the longer window is the stricter.
std::string unnamed_policies(const RateFacts& facts) {
  std::vector<std::pair<std::uint32_t, seconds>> policies;
  for (const NamedDecision& limit : facts.limits) {
    const seconds window = window_of(limit.quota);
    const auto same = std::find_if(policies.begin(), policies.end(), [&](const auto& policy) {
      return policy.first == limit.quota.limit();
    });
    if (same == policies.end()) {
      policies.emplace_back(limit.quota.limit(), window);
    } else {
      same->second = std::max(same->second, window);
    }
  }
  std::string text;
  for (const auto& [quota, window] : policies) {
    text += (text.empty() ? "" : ", ") + std::to_string(quota) + ";w=" + number(window);
  }
  return text;
}

// "search";q=600;w=60;penstock-burst=100
std::string named_policies(const RateFacts& facts) {
  std::string text;
  for (const NamedDecision& limit : facts.limits) {
    const Quota& quota = limit.quota;
    text += (text.empty() ? "" : ", ") + structured_string(limit.name);
    text += ";q=" + std::to_string(quota.limit());
    // the draft knows no parts of a second; without a window it makes no statement about it
    if (quota.period() >= seconds{1}) text += ";w=" + number(window_of(quota));
    if (quota.capacity() != quota.limit()) {
      text += ";penstock-burst=" + std::to_string(quota.capacity());
    }
  }
  return text;
}

void add_draft_06(HeaderFields& fields, const RateFacts& facts, const Decision& decision) {
  fields.emplace_back("RateLimit-Limit", std::to_string(decision.limit()));
  fields.emplace_back("RateLimit-Remaining", std::to_string(decision.remaining()));
  fields.emplace_back("RateLimit-Reset", number(seconds_to_more(decision)));
  fields.emplace_back("RateLimit-Policy", unnamed_policies(facts));
}

void add_draft_07(HeaderFields& fields, const RateFacts& facts, const Decision& decision) {
  fields.emplace_back("RateLimit", "limit=" + std::to_string(decision.limit()) +
                                       ", remaining=" + std::to_string(decision.remaining()) +
                                       ", reset=" + number(seconds_to_more(decision)));
  fields.emplace_back("RateLimit-Policy", unnamed_policies(facts));
}

void add_draft_08(HeaderFields& fields, const RateFacts& facts, const NamedDecision& strictest) {
  const Decision& decision = strictest.decision;
  fields.emplace_back("RateLimit-Policy", named_policies(facts));
  fields.emplace_back("RateLimit", structured_string(strictest.name) +
                                       ";r=" + std::to_string(decision.remaining()) +
                                       ";t=" + number(seconds_to_more(decision)));
}

}  // namespace

std::optional<seconds> retry_seconds(const Decision& decision) {
  if (decision.allowed() || !decision.retry_after()) return std::nullopt;
  return std::max(ceil_seconds(*decision.retry_after()), seconds{1});
}

void add_rate_headers(HeaderFields& fields, std::span<const HeaderDraft> drafts,
                      const RateFacts& facts) {
  if (!facts.strictest) return;
  const NamedDecision& strictest = facts.limits[*facts.strictest];
  const Decision& decision = strictest.decision;
  if (const auto wait = retry_seconds(decision)) fields.emplace_back("Retry-After", number(*wait));
  bool ietf_done = false;
  for (const HeaderDraft draft : drafts) {
    if (draft == HeaderDraft::Off) continue;
    if (draft == HeaderDraft::XRateLimit) {
      add_x_rate_limit(fields, decision);
      continue;
    }
    if (ietf_done) continue;
    ietf_done = true;
    if (draft == HeaderDraft::Draft06) add_draft_06(fields, facts, decision);
    if (draft == HeaderDraft::Draft07) add_draft_07(fields, facts, decision);
    if (draft == HeaderDraft::Draft08) add_draft_08(fields, facts, strictest);
  }
}

std::string structured_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte > 0x7E || letter == '%') {
      quoted += {'%', kHex[byte / 16U], kHex[byte % 16U]};
      continue;
    }
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

std::string structured_integer(std::uint64_t value) {
  return std::to_string(std::min(value, kLargestInteger));
}

}  // namespace penstock::wire::http
