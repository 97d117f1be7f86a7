#include "replay/replay.hpp"

#include "apps/command_line/arguments.hpp"
#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/replay/log_file.hpp"
#include "replay/report/report.hpp"
#include "rules/model/configuration.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::app {
namespace {

constexpr const char* kReplayFooter =
    "Decides the requests of access logs with the rules of --config, in virtual time, as a daemon\n"
    "with a memory store would have: which requests are denied, by which rule, who, when and how\n"
    "long. Logs are merged by time; \"-\" is standard input; gzip is detected. Nothing is sent to a\n"
    "daemon or a store.\n"
    "\n"
    "Formats: combined (nginx, Apache, penstock), caddy, envoy, traefik, penstock (JSON), json and\n"
    "csv. --map names the fields of json and csv: ATTRIBUTE=FIELD, of which time is required.\n"
    "\n"
    "Examples:\n"
    "  penstock replay --config new.yaml access.log access.log.1.gz\n"
    "  penstock replay --config new.yaml --against penstock.yaml --html report.html access.log\n"
    "  penstock replay --config new.yaml --suggest --redact access.log\n"
    "  zcat *.gz | penstock replay --config new.yaml --map time=ts,client_ip=ip,user=user_id -\n"
    "\n"
    "Exit codes: 0 the logs were read; 2 wrong usage or invalid input.";

constexpr std::string_view kReplayDefaultDomain = "default";

struct ReplayArguments {
  std::vector<std::filesystem::path> configuration;
  std::vector<std::filesystem::path> against;
  std::vector<std::string> logs;
  std::string domain;
  std::string format = "auto";
  std::string mapping;
  std::string window = "10s";
  std::string top = "10";
  std::string html;
  std::string redact_key;
  bool suggest = false;
  bool json = false;
  bool redact = false;
};

Result<rules::Configuration> load_rules(const std::vector<std::filesystem::path>& paths) {
  rules::Loaded loaded = rules::load(paths);
  if (loaded.configuration) return *std::move(loaded.configuration);
  std::string text = "the configuration has errors";
  for (const rules::Diagnostic& each : loaded.diagnostics) text += "\n  " + to_string(each);
  return Error{ErrorCode::InvalidInput, text};
}

std::set<std::string> domains_of(const rules::Ruleset& ruleset) {
  std::set<std::string> domains;
  for (const auto& rule : ruleset.rules()) domains.insert(rule->domain);
  return domains;
}

std::string list_text(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Error unknown_domain(const std::string& option, const std::string& domain,
                     const rules::Ruleset& ruleset) {
  return {ErrorCode::InvalidInput, option + ": the configuration has no domain \"" + domain +
                                       "\", only " + list_text(domains_of(ruleset))};
}

// The given domain, "default", or the only one.
Result<std::string> domain_of(const std::string& asked, const rules::Ruleset& ruleset) {
  if (!asked.empty()) {
    if (ruleset.has_domain(asked)) return asked;
    return unknown_domain("--domain", asked, ruleset);
  }
  if (ruleset.has_domain(kReplayDefaultDomain)) return std::string(kReplayDefaultDomain);
  const std::set<std::string> domains = domains_of(ruleset);
  if (domains.size() == 1) return *domains.begin();
  return Error{ErrorCode::InvalidInput,
               "--domain is required; the configuration has the domains " + list_text(domains)};
}

Result<std::optional<replay::LogFormat>> read_format(const std::string& name) {
  if (name == "auto") return std::optional<replay::LogFormat>{};
  const auto format = replay::log_format_of(name);
  if (format) return format;
  std::string known = "auto";
  for (const replay::LogFormat one : replay::kLogFormats) known.append(", ").append(to_string(one));
  return Error{ErrorCode::InvalidInput, "--format: \"" + name + "\" must be one of " + known};
}

Result<replay::ReplayOptions> read_options(const ReplayArguments& arguments,
                                           const rules::Configuration& configuration) {
  Result<std::string> domain = domain_of(arguments.domain, *configuration.rules);
  if (!domain) return domain.error();
  const auto format = read_format(arguments.format);
  if (!format) return format.error();
  auto mapping = replay::FieldMap::parse(arguments.mapping);
  if (!mapping) return mapping.error();
  const Result<Duration> window =
      parse_duration("--window", arguments.window, Duration{0}, std::chrono::hours{24});
  if (!window) return window.error();
  Result<http::TrustedProxies> trusted =
      http::TrustedProxies::parse(configuration.settings.trusted_proxies);
  if (!trusted) return trusted.error();
  return replay::ReplayOptions{.domain = *std::move(domain),
                               .format = *format,
                               .mapping = *std::move(mapping),
                               .paths = configuration.settings.gateway.paths,
                               .trusted = *std::move(trusted),
                               .window = *window,
                               .peaks = arguments.suggest ? replay::RunStatistics::Peaks::Count
                                                          : replay::RunStatistics::Peaks::Skip};
}

Result<std::optional<replay::Redactor>> read_redactor(const ReplayArguments& arguments) {
  if (!arguments.redact_key.empty()) {
    std::ifstream file(arguments.redact_key, std::ios::binary);
    std::string key{std::istreambuf_iterator<char>(file), {}};
    while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    if (!file || key.empty()) {
      return Error{ErrorCode::InvalidInput,
                   "--redact-key: " + arguments.redact_key + " cannot be read, or is empty"};
    }
    return std::optional(replay::Redactor(std::move(key)));
  }
  if (arguments.redact) return std::optional(replay::Redactor::with_random_key());
  return std::optional<replay::Redactor>{};
}

// How much of all files has been read; none when one is a pipe.
class Progress {
 public:
  void add(const LogFile& file) {
    files_.push_back(&file);
    is_known_ = is_known_ && file.size() > 0;
    total_ += file.size();
  }
  void draw() const {
    if (!is_known_ || total_ == 0) return;
    std::uint64_t read = 0;
    for (const LogFile* file : files_) read += file->bytes_read();
    // at 1 the bar is removed
    draw_progress(std::min(0.999, static_cast<double>(read) / static_cast<double>(total_)));
  }
  void finish() const {
    if (is_known_ && total_ > 0) draw_progress(1);
  }

 private:
  std::vector<const LogFile*> files_;  // owned by the replay
  std::uint64_t total_ = 0;
  bool is_known_ = true;
};

Result<void> read_logs(const std::vector<std::string>& logs, replay::Replay& replay) {
  Progress progress;
  for (const std::string& path : logs) {
    Result<std::unique_ptr<LogFile>> file = LogFile::open(path);
    if (!file) return file.error();
    progress.add(**file);
    if (const Result<void> added = replay.add(path, *std::move(file)); !added) return added;
  }
  const Result<void> ran = replay.run([&] { progress.draw(); });
  progress.finish();
  return ran;
}

Result<void> write_page(const std::string& path, const replay::Report& report) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << replay::html_report(report);
  file.close();
  if (file) return {};
  return Error{ErrorCode::InvalidInput, "--html: " + path + " cannot be written"};
}

Result<void> check_requests(const replay::Replay& replay) {
  if (replay.lines().requests > 0 || replay.lines().malformed == 0) return {};
  const replay::BadLine& bad = replay.bad_lines().front();
  return Error{ErrorCode::InvalidInput, bad.file + ":" + std::to_string(bad.line) + ": " +
                                            std::string(bad.reason) + "; no line is a request"};
}

Result<void> run_replay(const ReplayArguments& arguments) {
  const Result<std::int64_t> top = parse_number("--top", arguments.top, {.min = 0, .max = 10'000});
  if (!top) return top.error();
  const Result<rules::Configuration> configuration = load_rules(arguments.configuration);
  if (!configuration) return configuration.error();
  std::shared_ptr<const rules::Ruleset> against;
  if (!arguments.against.empty()) {
    const Result<rules::Configuration> old = load_rules(arguments.against);
    if (!old) return Error{old.error().code, "--against: " + old.error().detail};
    against = old->rules;
  }
  const Result<std::optional<replay::Redactor>> redactor = read_redactor(arguments);
  if (!redactor) return redactor.error();
  Result<replay::ReplayOptions> options = read_options(arguments, *configuration);
  if (!options) return options.error();
  if (against != nullptr && !against->has_domain(options->domain)) {
    return unknown_domain("--against", options->domain, *against);
  }
  replay::Replay replay(*std::move(options), configuration->rules, against);
  if (const Result<void> read = read_logs(arguments.logs, replay); !read) return read;
  if (const Result<void> checked = check_requests(replay); !checked) return checked;
  const replay::Report report = make_report(
      replay, arguments.logs,
      {.top = static_cast<std::size_t>(*top), .redactor = *redactor ? &**redactor : nullptr});
  if (!arguments.html.empty()) {
    if (const Result<void> written = write_page(arguments.html, report); !written) return written;
  }
  std::cout << (arguments.json ? json_report(report) + "\n" : text_report(report));
  return {};
}

void add_files_option(CLI::App& command, const char* name,
                      std::vector<std::filesystem::path>& files, const char* help) {
  command.add_option(name, files, help)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("FILE");
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command =
      app.add_subcommand("replay", "Show what rules would have denied in an access log");
  command->add_option("LOG", arguments->logs, "Access logs; - is standard input")->required();
  add_files_option(*command, "--config", arguments->configuration,
                   "Configuration file with the rules; repeat it for several files");
  command->get_option("--config")->required();
  add_files_option(*command, "--against", arguments->against,
                   "Configuration file with the old rules, to show the difference");
  command->add_option("--domain", arguments->domain, "Domain of the requests")->type_name("NAME");
  command->add_option("--format", arguments->format, "Format of the logs")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--map", arguments->mapping, "Fields of the log: ATTRIBUTE=FIELD,...")
      ->type_name("MAP");
  command->add_option("--window", arguments->window, "How much lines may be out of order")
      ->capture_default_str()
      ->type_name("TIME");
  command->add_option("--top", arguments->top, "Subjects in each list")
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--suggest", arguments->suggest, "Suggest limits from the usage of subjects");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->add_option("--html", arguments->html, "Also write a page")->type_name("FILE");
  command->add_flag("--redact", arguments->redact,
                    "Replace the values of subjects by a hash with a random key");
  command
      ->add_option("--redact-key", arguments->redact_key,
                   "The same with the key in this file, for equal hashes in several reports")
      ->type_name("FILE");
  command->footer(kReplayFooter);
  on_command(*command, exit_code, [arguments] { return run_replay(*arguments); });
}

}  // namespace penstock::app
