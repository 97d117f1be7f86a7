#include "answer/rate_headers.hpp"

#include "core/fixed_window.hpp"
#include "http/json_writer.hpp"

#include <algorithm>

namespace penstock::answer {
namespace {

using rules::HeaderDraft;
using std::chrono::seconds;

constexpr std::uint64_t kLargestInteger = 999'999'999'999'999;
constexpr std::string_view kSeparator = ", ";  // of the members of a list

// No negative waits, and no more digits than structured fields allow.
std::uint64_t integer_of(seconds wait) {
  return std::min(static_cast<std::uint64_t>(std::max(wait, seconds{0}).count()), kLargestInteger);
}

void write_string(http::TextWriter& out, std::string_view content) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out.letter('"');
  for (const char letter : content) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte > 0x7E || letter == '%') {
      out.letter('%').letter(kHex[byte / 16U]).letter(kHex[byte % 16U]);
      continue;
    }
    if (letter == '"' || letter == '\\') out.letter('\\');
    out.letter(letter);
  }
  out.letter('"');
}

// Until more quota is available: the wait of a denial, so that it never contradicts Retry-After;
// else until the usage is zero. Never 0 for a denial.
std::uint64_t seconds_to_more(const Decision& decision) {
  const seconds least{decision.allowed() ? 0 : 1};
  return integer_of(
      std::max(retry_seconds(decision).value_or(ceil_seconds(decision.reset_after())), least));
}

// Rounded up: a client that spreads the quota over a longer window stays within it.
std::uint64_t window_of(const Quota& quota) { return integer_of(ceil_seconds(quota.period())); }

// seconds_to_more() as a Unix timestamp. `now` was read after the decision, which makes the sum
// late by that much. Windows end at known times; without this their timestamp would be a second
// late.
std::uint64_t time_of_more(const NamedDecision& limit, Instant now) {
  const Decision& decision = limit.decision;
  const Duration wait = decision.allowed()
                            ? decision.reset_after()
                            : decision.retry_after().value_or(decision.reset_after());
  Instant time = now + std::min(wait, Duration::max() - now.time_since_epoch());
  const bool ends_with_window = limit.quota.algorithm() == Algorithm::FixedWindow &&
                                decision.outcome() != Outcome::Blocked &&
                                !decision.drains_as_another_quota();
  if (ends_with_window && wait > Duration{0}) {
    time = core::FixedWindow::window_end(limit.quota, time - limit.quota.period() / 2);
  }
  return integer_of(ceil_seconds(time.time_since_epoch()));
}

void add_x_rate_limit(FieldSink& fields, const Decision& decision, std::uint64_t reset) {
  fields.add("X-RateLimit-Limit").number(decision.limit());
  fields.add("X-RateLimit-Remaining").number(decision.remaining());
  fields.add("X-RateLimit-Reset").number(reset);
}

// "100;w=60, 5000;w=86400". Drafts 06 and 07 do not let two policies share a quota; if two do, the
// longer window is the stricter.
void write_unnamed_policies(http::TextWriter& out, const RateLimitInfo& info) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> policies;
  for (const NamedDecision& limit : info.limits) {
    const std::uint64_t window = window_of(limit.quota);
    const auto same = std::find_if(policies.begin(), policies.end(), [&](const auto& policy) {
      return policy.first == limit.quota.limit();
    });
    if (same == policies.end()) {
      policies.emplace_back(limit.quota.limit(), window);
    } else {
      same->second = std::max(same->second, window);
    }
  }
  std::string_view separator;
  for (const auto& [quota, window] : policies) {
    out.text(separator).number(quota).text(";w=").number(window);
    separator = kSeparator;
  }
}

void write_policy(http::TextWriter& out, std::string_view name, const Quota& quota) {
  write_string(out, name);
  out.text(";q=").number(quota.limit());
  // the draft knows no parts of a second; without a window it makes no statement about it
  if (quota.period() >= seconds{1}) out.text(";w=").number(window_of(quota));
  if (quota.capacity() != quota.limit()) out.text(";penstock-burst=").number(quota.capacity());
}

void write_named_policies(http::TextWriter& out, const RateLimitInfo& info) {
  std::string_view separator;
  for (const NamedDecision& limit : info.limits) {
    out.text(separator);
    if (limit.cached_policy != nullptr) {
      out.text(limit.cached_policy->policy);
    } else {
      write_policy(out, limit.name, limit.quota);
    }
    separator = kSeparator;
  }
}

void add_draft_06(FieldSink& fields, const RateLimitInfo& info, const Decision& decision) {
  fields.add("RateLimit-Limit").number(decision.limit());
  fields.add("RateLimit-Remaining").number(decision.remaining());
  fields.add("RateLimit-Reset").number(seconds_to_more(decision));
  write_unnamed_policies(fields.add("RateLimit-Policy"), info);
}

void add_draft_07(FieldSink& fields, const RateLimitInfo& info, const Decision& decision) {
  http::TextWriter& value = fields.add("RateLimit");
  value.text("limit=").number(decision.limit());
  value.text(", remaining=").number(decision.remaining());
  value.text(", reset=").number(seconds_to_more(decision));
  write_unnamed_policies(fields.add("RateLimit-Policy"), info);
}

void add_draft_08(FieldSink& fields, const RateLimitInfo& info, const NamedDecision& strictest) {
  write_named_policies(fields.add("RateLimit-Policy"), info);
  http::TextWriter& value = fields.add("RateLimit");
  if (strictest.cached_policy != nullptr) {
    value.text(strictest.cached_policy->name);
  } else {
    write_string(value, strictest.name);
  }
  value.text(";r=").number(strictest.decision.remaining());
  value.text(";t=").number(seconds_to_more(strictest.decision));
}

// Adds them to a list.
class ListSink final : public FieldSink {
 public:
  explicit ListSink(HeaderFields& fields) : fields_(fields) {}

  [[nodiscard]] http::TextWriter& add(std::string_view name) override {
    value_.reset();  // the list may move what it writes to
    return value_.emplace(fields_.emplace_back(name, std::string()).second);
  }

 private:
  HeaderFields& fields_;
  std::optional<http::TextWriter> value_;
};

template <class Write>
std::string text_by(const Write& write) {
  std::string text;
  {
    http::TextWriter writer(text);
    write(writer);
  }
  return text;
}

}  // namespace

std::optional<seconds> retry_seconds(const Decision& decision) {
  if (decision.allowed() || !decision.retry_after()) return std::nullopt;
  return std::max(ceil_seconds(*decision.retry_after()), seconds{1});
}

void add_rate_headers(HeaderFields& fields, std::span<const HeaderDraft> drafts,
                      const RateLimitInfo& info) {
  ListSink sink(fields);
  add_rate_headers(sink, drafts, info);
}

void add_rate_headers(FieldSink& fields, std::span<const HeaderDraft> drafts,
                      const RateLimitInfo& info) {
  if (!info.strictest) return;
  const NamedDecision& strictest = info.limits[*info.strictest];
  const Decision& decision = strictest.decision;
  if (const auto wait = retry_seconds(decision)) {
    fields.add("Retry-After").number(integer_of(*wait));
  }
  bool x_done = false;
  bool ietf_done = false;
  for (const HeaderDraft draft : drafts) {
    if (draft == HeaderDraft::Off) continue;
    if (draft == HeaderDraft::XRateLimit || draft == HeaderDraft::XRateLimitUnix) {
      if (!std::exchange(x_done, true)) {
        add_x_rate_limit(fields, decision,
                         draft == HeaderDraft::XRateLimit
                             ? seconds_to_more(decision)
                             : time_of_more(strictest, info.clock->now()));
      }
      continue;
    }
    if (ietf_done) continue;
    ietf_done = true;
    if (draft == HeaderDraft::Draft06) add_draft_06(fields, info, decision);
    if (draft == HeaderDraft::Draft07) add_draft_07(fields, info, decision);
    if (draft == HeaderDraft::Draft08) add_draft_08(fields, info, strictest);
  }
}

PolicyHeader policy_header(std::string_view name, const Quota& quota) {
  return {.name = structured_string(name),
          .policy = text_by([&](http::TextWriter& out) { write_policy(out, name, quota); })};
}

std::string structured_string(std::string_view text) {
  return text_by([&](http::TextWriter& out) { write_string(out, text); });
}

std::string structured_integer(std::uint64_t value) {
  return std::to_string(std::min(value, kLargestInteger));
}

std::string_view limit_name(const rules::MatchedLimit& matched) noexcept {
  const rules::Rule* const rule = matched.rule;
  if (rule == nullptr || matched.limit >= rule->limits.size()) return {};
  return rule->limits[matched.limit].name;
}

std::string policy_name(const rules::MatchedLimit& matched) {
  if (matched.rule == nullptr) return "request";
  const std::string_view limit = limit_name(matched);
  return limit.empty() ? matched.rule->name : matched.rule->name + "/" + std::string(limit);
}

void PolicyHeaderCache::use(const std::shared_ptr<const rules::Ruleset>& rules) {
  if (rules == rules_) return;
  rules_ = rules;
  by_rule_.clear();
}

const PolicyHeader* PolicyHeaderCache::find(const rules::MatchedLimit& matched) {
  const rules::Rule* const rule = matched.rule;
  if (rules_ == nullptr || rule == nullptr || matched.limit >= rule->limits.size()) return nullptr;
  if (!(matched.check.quota == rule->limits[matched.limit].quota)) return nullptr;
  if (by_rule_.size() <= rule->index) by_rule_.resize(rule->index + 1);
  std::vector<PolicyHeader>& texts = by_rule_[rule->index];
  if (texts.empty()) texts.resize(rule->limits.size());
  PolicyHeader& text = texts[matched.limit];
  if (text.name.empty()) text = policy_header(policy_name(matched), matched.check.quota);
  return &text;
}

}  // namespace penstock::answer
