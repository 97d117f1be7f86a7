// The worked numbers of docs/explanation/algorithms.md: one scenario for each algorithm. Ten per
// ten seconds; seconds count from a window boundary. With the name of an algorithm, only that one.
#include <penstock/penstock.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

using std::chrono::milliseconds;

struct Request {
  milliseconds at;
  penstock::Cost cost;
};

constexpr std::array kStory{
    Request{milliseconds{8'000}, {6}},  Request{milliseconds{9'900}, {4}},
    Request{milliseconds{10'100}, {4}}, Request{milliseconds{13'000}, {4}},
    Request{milliseconds{17'900}, {4}}, Request{milliseconds{18'000}, {11}},
};

std::string seconds(penstock::Duration wait) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f s", static_cast<double>(wait.count()) / 1e6);
  return text.data();
}

std::string wait_text(const penstock::Decision& decision) {
  if (decision.allowed()) return "-";
  const auto wait = decision.retry_after();
  return wait ? seconds(*wait) : "never";
}

void print_decisions(const penstock::Quota& quota) {
  // a multiple of ten seconds, so that an aligned window begins here
  const penstock::Instant start{penstock::Days{20'000}};
  penstock::ManualClock clock(start);
  penstock::Limiter limiter{penstock::MemoryOptions{.clock = &clock}};
  std::printf("%s\n\n     at   cost  answer      remaining     reset in    retry in\n",
              to_string(quota).c_str());
  for (const Request& request : kStory) {
    clock.set(start + request.at);
    const penstock::Decision decision = limiter.check("user:42", quota, request.cost);
    std::printf("%5.1f s %6llu  %-10s %10u %12s %11s\n",
                static_cast<double>(request.at.count()) / 1e3,
                static_cast<unsigned long long>(request.cost.units),
                std::string(to_string(decision.outcome())).c_str(), decision.remaining(),
                seconds(decision.reset_after()).c_str(), wait_text(decision).c_str());
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view wanted = count > 1 ? arguments[1] : "";
  const penstock::QuotaSpec ten = penstock::per(10, std::chrono::seconds{10});
  bool printed = false;
  for (const penstock::QuotaSpec& spec :
       {ten.token_bucket(), ten.gcra(), ten.fixed_window(), ten.anchored_window(),
        ten.sliding_log(), ten.sliding_counter(), ten.sub_windows()}) {
    const auto quota = penstock::Quota::make(spec);
    if (!quota || (!wanted.empty() && to_string(quota->algorithm()) != wanted)) continue;
    if (printed) std::printf("\n");
    print_decisions(*quota);
    printed = true;
  }
  return printed ? 0 : 2;
}
