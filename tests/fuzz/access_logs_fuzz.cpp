// libFuzzer: access logs of every format, as text and as gzip. Each line is read, skipped or
// counted as malformed, and the same in any portions; reports never contain markup of a client.

#include "portions.hpp"
#include "replay/input/text_source.hpp"
#include "replay/replay.hpp"
#include "replay/report/report.hpp"
#include "rules/model/configuration.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace penstock;
using fuzz::check;

std::shared_ptr<const rules::Ruleset> rules_of_fuzz() {
  static const auto loaded = rules::load_text(
      "domains: {web: {caller_attributes: [user], rules: [{name: a, key: [client_ip], limit: 1/m}, "
      "{name: b, key: [header.user-agent, path], limit: 1/h}, {name: c, key: [user], limit: 1/h}]}}",
      "fuzz.yaml");
  return loaded.configuration.value().rules;
}

std::string replayed(std::string_view bytes, std::size_t portion,
                     std::optional<replay::LogFormat> format) {
  replay::Replay run({.domain = "web",
                      .format = format,
                      .mapping = replay::FieldMap::parse("user=user").value(),
                      .max_waiting_bytes = 10'000,
                      .peaks = replay::RunStatistics::Peaks::Count},
                     rules_of_fuzz(), rules_of_fuzz());
  const auto added =
      run.add("log", std::make_unique<replay::TextSource>(std::string(bytes), portion));
  if (!added) return added.error().detail;
  if (const auto ran = run.run(); !ran) return ran.error().detail;
  const replay::LineCounts& lines = run.lines();
  check(lines.lines == lines.requests + lines.malformed + lines.other + lines.rejected);
  check(run.difference()->newly_denied() == 0 && run.difference()->no_longer_denied() == 0);
  const replay::Report report = make_report(run, {"log"}, {});
  check(html_report(report).find("<script") == std::string::npos);
  static_cast<void>(text_report(report));
  return json_report(report);
}

}  // namespace

// Called by libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t choice = data[0] % (replay::kLogFormats.size() + 1);
  const auto format = choice == replay::kLogFormats.size()
                          ? std::nullopt
                          : std::optional(replay::kLogFormats[choice]);
  const fuzz::Input input = fuzz::input_of(data + 1, size - 1);
  check(replayed(input.bytes, input.bytes.size() + 1, format) ==
        replayed(input.bytes, input.portion, format));
  return 0;
}
