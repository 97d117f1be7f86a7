#include "wire/http/rate_headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace penstock::wire::http {
namespace {

using rules::HeaderDraft;
using std::chrono::seconds;

constexpr std::uint64_t kLargestInteger = 999'999'999'999'999;

void append(std::string& text, std::uint64_t number) {
  std::array<char, 20> digits;
  const auto [end, ignored] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end);
}

// No negative waits, and no more digits than structured fields allow.
void append(std::string& text, seconds wait) {
  append(text,
         std::min(static_cast<std::uint64_t>(std::max(wait, seconds{0}).count()), kLargestInteger));
}

void append_string(std::string& text, std::string_view content) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  text += '"';
  for (const char letter : content) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte > 0x7E) {
      text += {'%', kHex[byte / 16U], kHex[byte % 16U]};
      continue;
    }
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  text += '"';
}

// Until more can be had: the wait of a refusal, so that it never contradicts Retry-After; else
// until nothing counts as used.
seconds seconds_to_more(const Decision& decision) {
  return retry_seconds(decision).value_or(ceil_seconds(decision.reset_after()));
}

// Rounded up: whoever spreads the quota over a longer window stays within it.
seconds window_of(const Quota& quota) { return ceil_seconds(quota.period()); }

void add_x_rate_limit(FieldSink& fields, const Decision& decision) {
  append(fields.add("X-RateLimit-Limit"), decision.limit());
  append(fields.add("X-RateLimit-Remaining"), decision.remaining());
  append(fields.add("X-RateLimit-Reset"), seconds_to_more(decision));
}

// "100;w=60, 5000;w=86400". Drafts 06 and 07 do not let two policies share a quota; of those that
// do, the longer window is the stricter.
void append_unnamed_policies(std::string& text, const RateFacts& facts) {
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
  for (const auto& [quota, window] : policies) {
    if (!text.empty()) text += ", ";
    append(text, quota);
    append(text += ";w=", window);
  }
}

// "search";q=600;w=60;penstock-burst=100
void append_named_policies(std::string& text, const RateFacts& facts) {
  for (const NamedDecision& limit : facts.limits) {
    const Quota& quota = limit.quota;
    if (!text.empty()) text += ", ";
    append_string(text, limit.name);
    append(text += ";q=", quota.limit());
    // the draft knows no parts of a second; without a window it makes no statement about it
    if (quota.period() >= seconds{1}) append(text += ";w=", window_of(quota));
    if (quota.capacity() != quota.limit()) append(text += ";penstock-burst=", quota.capacity());
  }
}

void add_draft_06(FieldSink& fields, const RateFacts& facts, const Decision& decision) {
  append(fields.add("RateLimit-Limit"), decision.limit());
  append(fields.add("RateLimit-Remaining"), decision.remaining());
  append(fields.add("RateLimit-Reset"), seconds_to_more(decision));
  append_unnamed_policies(fields.add("RateLimit-Policy"), facts);
}

void add_draft_07(FieldSink& fields, const RateFacts& facts, const Decision& decision) {
  std::string& text = fields.add("RateLimit");
  append(text += "limit=", decision.limit());
  append(text += ", remaining=", decision.remaining());
  append(text += ", reset=", seconds_to_more(decision));
  append_unnamed_policies(fields.add("RateLimit-Policy"), facts);
}

void add_draft_08(FieldSink& fields, const RateFacts& facts, const NamedDecision& strictest) {
  append_named_policies(fields.add("RateLimit-Policy"), facts);
  std::string& text = fields.add("RateLimit");
  append_string(text, strictest.name);
  append(text += ";r=", strictest.decision.remaining());
  append(text += ";t=", seconds_to_more(strictest.decision));
}

// Adds them to a list.
class ListSink final : public FieldSink {
 public:
  explicit ListSink(HeaderFields& fields) : fields_(fields) {}

  [[nodiscard]] std::string& add(std::string_view name) override {
    return fields_.emplace_back(name, std::string()).second;
  }

 private:
  HeaderFields& fields_;
};

}  // namespace

std::optional<seconds> retry_seconds(const Decision& decision) {
  if (decision.allowed() || !decision.retry_after()) return std::nullopt;
  return std::max(ceil_seconds(*decision.retry_after()), seconds{1});
}

void add_rate_headers(HeaderFields& fields, std::span<const HeaderDraft> drafts,
                      const RateFacts& facts) {
  ListSink sink(fields);
  add_rate_headers(sink, drafts, facts);
}

void add_rate_headers(FieldSink& fields, std::span<const HeaderDraft> drafts,
                      const RateFacts& facts) {
  if (!facts.strictest) return;
  const NamedDecision& strictest = facts.limits[*facts.strictest];
  const Decision& decision = strictest.decision;
  if (const auto wait = retry_seconds(decision)) append(fields.add("Retry-After"), *wait);
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
  std::string quoted;
  append_string(quoted, text);
  return quoted;
}

std::string structured_integer(std::uint64_t value) {
  return std::to_string(std::min(value, kLargestInteger));
}

}  // namespace penstock::wire::http
