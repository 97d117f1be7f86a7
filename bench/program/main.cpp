#include "apps/command_line/program.hpp"
#include "bench/program/commands.hpp"

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  penstock bench store --keys 1000000 --threads 2\n"
    "  penstock bench http --endpoint forward-auth --rate 5000\n"
    "\n"
    "`penstock bench` and `penstock verify` start this program.\n"
    "\n"
    "Exit codes: 0 measured, 1 a limit was broken, 2 wrong usage or invalid input, 3 the store or\n"
    "the server is unavailable.";

void add_commands(CLI::App& app, int& exit_code) {
  app.footer(kFooter);
  penstock::bench::add_store_command(app, exit_code);
  penstock::bench::add_http_command(app, exit_code);
  penstock::bench::add_grpc_command(app, exit_code);
  penstock::bench::add_resp_command(app, exit_code);
  penstock::bench::add_modes_command(app, exit_code);
  penstock::bench::add_verify_command(app, exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  return penstock::app::run_program(argc, argv,
                                    {.name = "penstock-bench",
                                     .description = "Penstock's load generator.",
                                     .add_commands = add_commands});
}
