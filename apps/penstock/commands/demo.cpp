#include "apps/command_line/program.hpp"
#include "apps/command_line/style.hpp"
#include "apps/penstock/commands/commands.hpp"
#include "apps/penstock/demo/demo_picture.hpp"
#include "apps/penstock/demo/demo_scenario.hpp"
#include "apps/penstock/pictures/pictures.hpp"
#include "penstock/quota.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace penstock::app {
namespace {

constexpr const char* kDemoFooter =
    "Time is virtual: the run takes milliseconds. Colours are used on a terminal unless NO_COLOR "
    "is\n"
    "set. --svg draws each algorithm, leases, a Redis outage and the architecture; --limit does\n"
    "not apply to it.\n"
    "\n"
    "Examples:\n"
    "  penstock demo\n"
    "  penstock demo --limit \"100/m burst 20\"\n"
    "  penstock demo --svg docs/images";

struct DemoArguments {
  std::string limit = "10/10s";
  std::string svg{};
  bool json = false;
  bool no_color = false;
};

Result<std::vector<DemoRow>> read_and_run(const DemoArguments& arguments) {
  const Result<QuotaSpec> spec = QuotaSpec::parse(arguments.limit);
  if (!spec) return Error{spec.error().code, "--limit " + spec.error().detail};
  const std::string given = "--limit \"" + arguments.limit + "\": ";
  if (spec->algorithm != Algorithm::TokenBucket) {
    return Error{ErrorCode::InvalidInput,
                 given + "expected no algorithm; the demo shows all of them"};
  }
  Result<std::vector<DemoRow>> rows = run_demo(*spec);
  if (!rows) return Error{rows.error().code, given + rows.error().detail};
  return rows;
}

nlohmann::ordered_json to_json(std::span<const DemoRow> rows) {
  nlohmann::ordered_json json;
  json["limit"] = rows.front().quota.limit();
  json["period_us"] = rows.front().quota.period().count();
  json["rows"] = nlohmann::ordered_json::array();
  for (const DemoRow& row : rows) {
    nlohmann::ordered_json requests = nlohmann::ordered_json::array();
    for (const DemoRequest& request : row.requests) {
      requests.push_back(
          {{"at_us", request.at.count()}, {"allowed", request.outcome == Outcome::Allowed}});
    }
    json["rows"].push_back({{"algorithm", to_string(row.quota.algorithm())},
                            {"quota", to_string(row.quota)},
                            {"allowed", row.passed},
                            {"denied", row.requests.size() - row.passed},
                            {"max_in_any_period", row.peak.passed},
                            {"max_from_us", row.peak.from.count()},
                            {"requests", std::move(requests)}});
  }
  return json;
}

// Writes every picture into the directory, which is created.
Result<void> write_pictures(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  for (const Picture& picture : draw_all()) {
    const std::filesystem::path file = folder / picture.file;
    std::ofstream stream(file, std::ios::binary);
    stream << picture.text;
    if (!stream.flush()) {
      return Error{ErrorCode::InvalidInput, "--svg: cannot write \"" + file.string() + "\""};
    }
    std::cout << file.string() << '\n';
  }
  return {};
}

Result<void> run_demo_command(const DemoArguments& arguments) {
  if (!arguments.svg.empty()) return write_pictures(arguments.svg);
  const Result<std::vector<DemoRow>> rows = read_and_run(arguments);
  if (!rows) return rows.error();
  if (arguments.json) {
    std::cout << to_json(*rows) << '\n';
  } else {
    std::cout << draw_demo(*rows, arguments.no_color ? Colour::Never : colour_of(STDOUT_FILENO));
  }
  return {};
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* demo =
      app.add_subcommand("demo", "Show one burst through every algorithm, side by side");
  demo->add_option("--limit", arguments->limit,
                   "The limit, at most 10000 per period; default 10/10s")
      ->type_name("LIMIT");
  demo->add_flag("--json", arguments->json, "Print JSON: every request and its decision");
  demo->add_option("--svg", arguments->svg,
                   "Write the pictures of the documents into this directory instead")
      ->type_name("DIR");
  demo->add_flag("--no-color", arguments->no_color, "Never use colours");
  demo->footer(kDemoFooter);
  on_command(*demo, exit_code, [arguments] { return run_demo_command(*arguments); });
}

}  // namespace penstock::app
