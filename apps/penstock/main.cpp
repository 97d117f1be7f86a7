#include "apps/command_line/program.hpp"
#include "apps/penstock/commands/commands.hpp"

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  penstock serve --config examples/quickstart.yaml\n"
    "  penstock explain --config examples/quickstart.yaml path=/login client_ip=192.0.2.1\n"
    "  penstock check alice --limit \"10/s burst 20\" --repeat 25\n"
    "  penstock check alice --limit 100/m --store redis://127.0.0.1:6379\n"
    "  penstock peek client_ip=192.0.2.1 --rule default/login --server http://127.0.0.1:8080\n"
    "  penstock block mallory --for 10m --store redis://127.0.0.1:6379\n"
    "  penstock top --watch\n"
    "  penstock demo\n"
    "\n"
    "Exit codes: 0 success or allowed, 1 denied, 2 wrong usage or invalid input, 3 the store or\n"
    "the daemon is unavailable.";

void add_commands(CLI::App& app, int& exit_code) {
  app.footer(kFooter);
  penstock::app::add_serve_command(app, exit_code);
  penstock::app::add_validate_command(app, exit_code);
  penstock::app::add_explain_command(app, exit_code);
  penstock::app::add_check_command(app, exit_code);
  penstock::app::add_peek_command(app, exit_code);
  penstock::app::add_key_commands(app, exit_code);
  penstock::app::add_top_command(app, exit_code);
  penstock::app::add_audit_command(app, exit_code);
  penstock::app::add_bench_commands(app, exit_code);
  penstock::app::add_demo_command(app, exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  return penstock::app::run_program(argc, argv, "penstock",
                                    "A rate limiter: the daemon and its tools.", add_commands);
}
