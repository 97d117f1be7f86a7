#include "apps/penstock/remote/daemon_access.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::app {
namespace {

TEST(ErrorFrom, IsTheDetailOfTheProblem) {
  const Error error =
      error_from({.status = 400, .body = R"({"title":"Bad Request","detail":"limit: missing"})"});
  EXPECT_EQ(error, (Error{ErrorCode::InvalidInput, "limit: missing"}));
}

TEST(ErrorFrom, IsTheTitleWhereThereIsNoDetail) {
  EXPECT_EQ(error_from({.status = 404, .body = R"({"title":"Not Found","detail":7})"}).detail,
            "Not Found");
}

TEST(ErrorFrom, OfAnUnavailableStoreIsNotInvalidInput) {
  const Error error = error_from({.status = 503, .body = R"({"detail":"unavailable: redis"})"});
  EXPECT_EQ(error, (Error{ErrorCode::Unavailable, "unavailable: redis"}));
}

TEST(ErrorFrom, OfAMissingTokenNamesTheOption) {
  for (const unsigned status : {401U, 403U}) {
    const Error error = error_from({.status = status, .body = R"({"detail":"no"})"});
    EXPECT_EQ(error, (Error{ErrorCode::Misconfigured, "no (--token)"}));
  }
}

TEST(ErrorFrom, NamesTheStatusOfAnUnknownAnswer) {
  for (const char* body : {"", "<html>", "[]", "{}", "7"}) {
    const Error error = error_from({.status = 200, .body = body});
    EXPECT_EQ(error.code, ErrorCode::Protocol);
    EXPECT_NE(error.detail.find("200"), std::string::npos) << body;
  }
}

TEST(CallDaemon, RejectsInvalidArgumentsBeforeItConnects) {
  const auto complaint = [](const DaemonArguments& arguments) {
    const Result<DaemonAnswer> answer = call_daemon(arguments, {.target = "/"});
    return answer || answer.error().code != ErrorCode::InvalidInput ? "none"
                                                                    : answer.error().detail;
  };
  EXPECT_TRUE(complaint({.url = "malformed"}).starts_with("--server \"malformed\""));
  EXPECT_TRUE(complaint({.option = "--admin", .url = "x"}).starts_with("--admin \"x\""));
  EXPECT_TRUE(complaint({.url = "http://a", .timeout = "soon"}).starts_with("--timeout \"soon\""));
  const std::string split = complaint({.url = "http://a", .token = "secret\r\nX: y"});
  EXPECT_TRUE(split.starts_with("--token"));
  EXPECT_EQ(split.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace penstock::app
