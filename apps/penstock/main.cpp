#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  penstock init\n"
    "  penstock serve --config examples/quickstart.yaml\n"
    "  penstock explain --config examples/quickstart.yaml path=/login client_ip=192.0.2.1\n"
    "  penstock replay --config examples/quickstart.yaml access.log\n"
    "  penstock check alice --limit \"10/s burst 20\" --repeat 25\n"
    "  penstock check alice --limit 100/m --store redis://127.0.0.1:6379\n"
    "  penstock peek client_ip=192.0.2.1 --rule default/login --server http://127.0.0.1:8080\n"
    "  penstock block mallory --for 10m --store redis://127.0.0.1:6379\n"
    "  penstock top\n"
    "  penstock demo\n"
    "\n"
    "Exit codes: 0 success or allowed, 1 denied, 2 wrong usage or invalid input, 3 the store or\n"
    "the daemon is unavailable.";

constexpr const char* kIntroduction =
    "a rate limiter for proxies and applications\n"
    "\n"
    "Try it, without a configuration:\n"
    "  penstock check alice --limit 5/m --repeat 6   six requests, of which five are allowed\n"
    "  penstock demo                                 one burst through every algorithm\n"
    "\n"
    "Start the daemon:\n"
    "  penstock init                                 write penstock.yaml, a commented configuration\n"
    "  penstock validate penstock.yaml               check it\n"
    "  penstock serve                                start the daemon with it\n"
    "\n"
    "Help:\n"
    "  penstock --help                               all commands\n"
    "  penstock serve --help                         options and examples of one command\n";

void add_commands(CLI::App& app, int& exit_code) {
  app.footer(kFooter);
  penstock::app::add_init_command(app, exit_code);
  penstock::app::add_serve_command(app, exit_code);
  penstock::app::add_validate_command(app, exit_code);
  penstock::app::add_explain_command(app, exit_code);
  penstock::app::add_replay_command(app, exit_code);
  penstock::app::add_check_command(app, exit_code);
  penstock::app::add_peek_command(app, exit_code);
  penstock::app::add_key_commands(app, exit_code);
  penstock::app::add_override_commands(app, exit_code);
  penstock::app::add_top_command(app, exit_code);
  penstock::app::add_audit_command(app, exit_code);
  penstock::app::add_bench_commands(app, exit_code);
  penstock::app::add_demo_command(app, exit_code);
  penstock::app::add_completion_commands(app, exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  return penstock::app::run_program(argc, argv,
                                    {.name = "penstock",
                                     .description = "A rate limiter: the daemon and its tools.",
                                     .introduction = kIntroduction,
                                     .add_commands = add_commands});
}
