#include "apps/penstock/remote/target_arguments.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::app {
namespace {

// The result of target_of for a command line: "store", "daemon" or the error.
std::string target_of_line(const std::vector<std::string>& line,
                           const std::string& usual_store = {}) {
  TargetArguments arguments;
  arguments.store.url = usual_store;
  CLI::App command;
  add_target_options(command, arguments);
  add_rule_options(command, arguments);
  for (const char* option : {"--store", "--server"}) command.get_option(option)->envname("");
  command.parse(std::vector<std::string>(line.rbegin(), line.rend()));
  const Result<Target> target = target_of(command, arguments);
  if (!target) return target.error().detail;
  return *target == Target::Store ? "store" : "daemon";
}

TEST(TargetArguments, EitherStoreOrDaemon) {
  EXPECT_EQ(target_of_line({"--store", "redis://a"}), "store");
  EXPECT_EQ(target_of_line({"--server", "http://a"}), "daemon");
  EXPECT_EQ(target_of_line({"--server", "http://a"}, kMemoryStore), "daemon");
  EXPECT_EQ(target_of_line({}, kMemoryStore), "store");
}

TEST(TargetArguments, NeitherAndBothAreErrors) {
  EXPECT_EQ(target_of_line({}), "--store or --server is required");
  EXPECT_EQ(target_of_line({"--store", "redis://a", "--server", "http://a"}),
            "--store and --server: only one of them");
}

TEST(TargetArguments, RulesNeedADaemonAndNamesAStore) {
  EXPECT_EQ(target_of_line({"--server", "http://a", "--rule", "api/search"}), "daemon");
  EXPECT_EQ(target_of_line({"--store", "redis://a", "--name", "api/search"}), "store");
  EXPECT_NE(
      target_of_line({"--store", "redis://a", "--rule", "api/search"}).find("--name api/search"),
      std::string::npos);
  EXPECT_NE(target_of_line({"--server", "http://a", "--name", "api/search"}).find("--rule"),
            std::string::npos);
  EXPECT_TRUE(target_of_line({"--store", "redis://a", "--domain", "api"})
                  .starts_with("--domain \"api\" needs --server"));
  EXPECT_EQ(target_of_line({"--server", "http://a", "--rule", "a/b", "--domain", "a"}),
            "--rule and --domain: only one of them");
}

TEST(TargetArguments, TheDaemonUsesTheConnectionOptions) {
  TargetArguments arguments;
  arguments.store.timeout = "7s";
  arguments.store.ca = "ca.pem";
  arguments.daemon.url = "https://a";
  EXPECT_EQ(daemon_of(arguments).timeout, "7s");
  EXPECT_EQ(daemon_of(arguments).ca, "ca.pem");
  EXPECT_EQ(daemon_of(arguments).url, "https://a");
}

}  // namespace
}  // namespace penstock::app
