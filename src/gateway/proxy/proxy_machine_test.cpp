#include "gateway/proxy/proxy_machine.hpp"

#include <gtest/gtest.h>

namespace penstock::gateway {

// For messages of gtest.
void PrintTo(ProxyMachine::State state, std::ostream* out) { *out << static_cast<int>(state); }

namespace {

using State = ProxyMachine::State;
using Report = ProxyMachine::Report;
using Attempt = ProxyMachine::Attempt;
using Connection = ProxyMachine::Connection;
using Relayed = ProxyMachine::Relayed;

constexpr ProxyMachine::Request kGet{.is_idempotent = true};
constexpr ProxyMachine::Request kPost{};
constexpr ProxyMachine::Request kUpgrade{.is_idempotent = true, .wants_upgrade = true};
constexpr Attempt kClosed{.has_written = true};  // by the server, without a response
constexpr Attempt kUntouched{};
constexpr Attempt kTimedOut{.has_written = true, .has_expired = true};

ProxyMachine allowed(ProxyMachine::Request request = kGet) {
  ProxyMachine machine;
  machine.start(request);
  machine.on_admitted();
  machine.on_permit();
  machine.on_allowed();
  EXPECT_EQ(machine.state(), State::ChooseServer);
  return machine;
}

ProxyMachine sending(ProxyMachine::Request request = kGet,
                     Connection connection = Connection::Reused) {
  ProxyMachine machine = allowed(request);
  machine.on_server(0, connection);
  machine.on_connected();
  EXPECT_EQ(machine.state(), State::SendHead);
  return machine;
}

// The request is sent; with Last::No a body of unknown length follows.
ProxyMachine reading(ProxyMachine::Request request = kGet,
                     Connection connection = Connection::Reused, Last last = Last::Yes) {
  ProxyMachine machine = sending(request, connection);
  machine.on_head_sent(last, 0);
  EXPECT_EQ(machine.state(), State::ReadHead);
  return machine;
}

// The end of an attempt without a response: the upload is stopped, if there is one.
Report end_attempt(ProxyMachine& machine, Attempt attempt) {
  machine.on_response_ended(attempt);
  EXPECT_EQ(machine.state(), State::StopUpload);
  EXPECT_FALSE(machine.wants_body());
  machine.on_upload_ended();
  return machine.on_upload_over();
}

TEST(ProxyMachine, RelaysAResponseAndKeepsTheConnection) {
  ProxyMachine machine;
  machine.start(kGet);
  EXPECT_EQ(machine.state(), State::Admit);
  machine.on_admitted();
  EXPECT_EQ(machine.state(), State::AcquirePermit);
  machine.on_permit();
  EXPECT_EQ(machine.state(), State::CheckLimits);
  machine.on_allowed();
  EXPECT_EQ(machine.state(), State::ChooseServer);
  machine.on_server(0, Connection::None);
  EXPECT_EQ(machine.state(), State::Connect);
  machine.on_connected();
  EXPECT_EQ(machine.state(), State::SendHead);
  machine.on_head_sent(Last::Yes, 0);
  EXPECT_EQ(machine.state(), State::ReadHead);
  machine.on_response_head(200);
  EXPECT_EQ(machine.state(), State::Relay);
  machine.on_relayed(Relayed::Whole, AfterResponse::KeepAlive);
  EXPECT_EQ(machine.state(), State::Done);
  EXPECT_TRUE(machine.keeps_connection());
  EXPECT_EQ(machine.error(), std::nullopt);
}

TEST(ProxyMachine, RejectsWithAnErrorBeforeTheLimitsAreChecked) {
  ProxyMachine unrouted;
  unrouted.on_rejected(ProxyError::NoRoute);
  EXPECT_EQ(unrouted.state(), State::Answer);
  EXPECT_EQ(unrouted.error(), ProxyError::NoRoute);
  unrouted.on_answered();
  EXPECT_EQ(unrouted.state(), State::Done);
  EXPECT_FALSE(unrouted.keeps_connection());

  ProxyMachine without_permit;
  without_permit.on_admitted();
  without_permit.on_rejected(ProxyError::ClientInFlight);
  without_permit.on_permit();  // late
  EXPECT_EQ(without_permit.state(), State::Answer);
  EXPECT_EQ(without_permit.error(), ProxyError::ClientInFlight);
}

TEST(ProxyMachine, AnswersDenialsWithTheGatewaysOwnResponse) {
  ProxyMachine malformed;
  malformed.on_denied();
  EXPECT_EQ(malformed.state(), State::Answer);
  EXPECT_EQ(malformed.error(), std::nullopt);

  ProxyMachine denied;
  denied.on_admitted();
  denied.on_permit();
  denied.on_denied();
  EXPECT_EQ(denied.state(), State::Answer);
  EXPECT_EQ(denied.error(), std::nullopt);
}

TEST(ProxyMachine, TriesTheNextServerWhenOneDoesNotAcceptConnections) {
  ProxyMachine machine = allowed(kPost);
  machine.on_server(2, Connection::None);
  EXPECT_EQ(machine.on_connect_failed({}), Report::ServerFailed);
  EXPECT_EQ(machine.state(), State::ChooseServer);
  EXPECT_EQ(machine.tried(), std::vector<std::size_t>{2});
  machine.on_server(0, Connection::None);
  machine.on_connected();
  machine.on_head_sent(Last::Yes, 0);
  EXPECT_EQ(machine.error(), std::nullopt);  // the first server's failure is not the client's
  machine.on_response_head(200);
  EXPECT_EQ(machine.state(), State::Relay);
}

TEST(ProxyMachine, TheLastFailureAnswersWhenNoServerIsLeft) {
  ProxyMachine refused = allowed();
  refused.on_server(0, Connection::None);
  EXPECT_EQ(refused.on_connect_failed({.has_expired = true}), Report::ServerFailed);
  refused.on_server(1, Connection::None);
  EXPECT_EQ(refused.on_connect_failed({}), Report::ServerFailed);
  EXPECT_EQ(refused.on_no_server(), Report::None);
  EXPECT_EQ(refused.state(), State::Answer);
  EXPECT_EQ(refused.error(), ProxyError::ConnectFailed);

  ProxyMachine slow = allowed();
  slow.on_server(0, Connection::None);
  EXPECT_EQ(slow.on_connect_failed({.has_expired = true}), Report::ServerFailed);
  EXPECT_EQ(slow.on_no_server(), Report::None);
  EXPECT_EQ(slow.error(), ProxyError::UpstreamTimeout);
}

TEST(ProxyMachine, AnswersWithoutAHealthyServer) {
  ProxyMachine machine = allowed();
  EXPECT_EQ(machine.on_no_server(), Report::NoHealthyServer);
  EXPECT_EQ(machine.state(), State::Answer);
  EXPECT_EQ(machine.error(), ProxyError::NoHealthyServer);
}

// A server may close a kept connection at the moment a request is sent on it.
TEST(ProxyMachine, RetriesOnANewConnectionWhenTheServerClosedAKeptOne) {
  ProxyMachine machine = reading(kGet);
  EXPECT_TRUE(machine.may_reuse_connection());
  EXPECT_EQ(end_attempt(machine, kClosed), Report::Retried);
  EXPECT_EQ(machine.state(), State::ChooseServer);
  EXPECT_FALSE(machine.may_reuse_connection());
  EXPECT_TRUE(machine.tried().empty());  // the same server may be chosen again
  machine.on_server(0, Connection::None);
  machine.on_connected();
  machine.on_head_sent(Last::Yes, 0);
  EXPECT_EQ(end_attempt(machine, kClosed), Report::ServerFailed);  // once
  EXPECT_EQ(machine.error(), ProxyError::NoResponse);
}

TEST(ProxyMachine, RetriesWhenTheWriteFails) {
  ProxyMachine idempotent = sending(kGet);
  EXPECT_EQ(idempotent.on_send_failed(kClosed), Report::Retried);
  EXPECT_EQ(idempotent.state(), State::ChooseServer);

  ProxyMachine unsent = sending(kPost);
  EXPECT_EQ(unsent.on_send_failed(kUntouched), Report::Retried);
  EXPECT_EQ(unsent.state(), State::ChooseServer);
}

TEST(ProxyMachine, RetriesOnlyWhatTheServerCannotHaveProcessed) {
  ProxyMachine new_connection = reading(kGet, Connection::None);
  EXPECT_EQ(end_attempt(new_connection, kClosed), Report::ServerFailed);

  ProxyMachine not_idempotent = reading(kPost);
  EXPECT_EQ(end_attempt(not_idempotent, kClosed), Report::ServerFailed);
  EXPECT_EQ(not_idempotent.state(), State::Answer);
  EXPECT_EQ(not_idempotent.error(), ProxyError::NoResponse);

  ProxyMachine part_of_a_response = reading(kGet);
  EXPECT_EQ(end_attempt(part_of_a_response, {.has_written = true, .has_received = true}),
            Report::ServerFailed);

  ProxyMachine timed_out = reading(kGet);
  EXPECT_EQ(end_attempt(timed_out, kTimedOut), Report::ServerFailed);
  EXPECT_EQ(timed_out.error(), ProxyError::UpstreamTimeout);

  ProxyMachine with_body = sending(kGet);
  with_body.on_head_sent(Last::Yes, 5);  // the client's copy is consumed
  EXPECT_EQ(end_attempt(with_body, kClosed), Report::ServerFailed);
}

TEST(ProxyMachine, RetriesWhileTheBodyHasNotArrived) {
  ProxyMachine waiting = reading(kGet, Connection::Reused, Last::No);
  EXPECT_TRUE(waiting.is_uploading());
  EXPECT_EQ(end_attempt(waiting, kClosed), Report::Retried);
  EXPECT_FALSE(waiting.is_uploading());

  ProxyMachine arrived = reading(kGet, Connection::Reused, Last::No);
  arrived.on_uploaded(Last::No);
  EXPECT_EQ(end_attempt(arrived, kClosed), Report::ServerFailed);
}

// The write that fails as the upload is stopped has taken a piece of the body.
TEST(ProxyMachine, DoesNotRetryAfterAFailedUpload) {
  ProxyMachine machine = reading(kGet, Connection::Reused, Last::No);
  machine.on_response_ended(kClosed);
  machine.on_upload_refused();
  EXPECT_EQ(machine.on_upload_over(), Report::ServerFailed);
  EXPECT_EQ(machine.error(), ProxyError::NoResponse);
}

TEST(ProxyMachine, ReadsTheResponseOfAServerThatDoesNotReadTheRequest) {
  ProxyMachine head = sending(kPost, Connection::None);
  EXPECT_EQ(head.on_send_failed(kClosed), Report::None);
  EXPECT_EQ(head.state(), State::ReadHead);
  EXPECT_FALSE(head.is_uploading());

  ProxyMachine body = reading(kPost, Connection::None, Last::No);
  body.on_upload_refused();
  EXPECT_EQ(body.state(), State::ReadHead);
  body.on_response_head(413);
  EXPECT_EQ(body.state(), State::Relay);
  body.on_relayed(Relayed::Whole, AfterResponse::KeepAlive);
  EXPECT_EQ(body.state(), State::StopUpload);
  EXPECT_EQ(body.on_upload_over(), Report::None);
  EXPECT_EQ(body.state(), State::Done);
  EXPECT_FALSE(body.keeps_connection());  // the rest of the request was not sent
}

TEST(ProxyMachine, UploadsWhileItReadsTheResponse) {
  ProxyMachine machine = reading(kPost, Connection::Reused, Last::No);
  EXPECT_TRUE(machine.wants_body());
  EXPECT_EQ(machine.upstream_phase(), net::Phase::Processing);  // the client may be slow
  machine.on_uploaded(Last::No);
  machine.on_response_head(200);
  EXPECT_EQ(machine.state(), State::Relay);
  EXPECT_TRUE(machine.wants_body());
  EXPECT_EQ(machine.upstream_phase(), net::Phase::Body);
  machine.on_uploaded(Last::Yes);
  EXPECT_FALSE(machine.is_uploading());
  machine.on_relayed(Relayed::Whole, AfterResponse::KeepAlive);
  EXPECT_EQ(machine.state(), State::Done);
  EXPECT_TRUE(machine.keeps_connection());
}

TEST(ProxyMachine, StopsTheUploadAfterAnEarlyResponse) {
  ProxyMachine machine = reading(kPost, Connection::Reused, Last::No);
  machine.on_response_head(403);
  machine.on_relayed(Relayed::Whole, AfterResponse::KeepAlive);
  EXPECT_EQ(machine.state(), State::StopUpload);
  EXPECT_TRUE(machine.is_uploading());
  EXPECT_FALSE(machine.wants_body());
  machine.on_upload_failed(ProxyError::BodyTimeout);  // because it was interrupted
  EXPECT_EQ(machine.on_upload_over(), Report::None);
  EXPECT_EQ(machine.state(), State::Done);
  EXPECT_EQ(machine.error(), std::nullopt);
  EXPECT_FALSE(machine.keeps_connection());
}

TEST(ProxyMachine, TheResponseTimeoutStartsWhenTheRequestIsSent) {
  ProxyMachine machine = reading(kPost, Connection::Reused, Last::No);
  EXPECT_EQ(machine.upstream_phase(), net::Phase::Processing);
  machine.on_uploaded(Last::Yes);
  EXPECT_EQ(machine.upstream_phase(), net::Phase::FirstByte);
  EXPECT_EQ(reading(kGet).upstream_phase(), net::Phase::FirstByte);
}

TEST(ProxyMachine, BlamesTheClientForItsBody) {
  for (const ProxyError error : {ProxyError::BodyTimeout, ProxyError::MalformedBody}) {
    ProxyMachine machine = reading(kPost, Connection::Reused, Last::No);
    machine.on_upload_failed(error);
    EXPECT_EQ(machine.state(), State::ReadHead);  // until the connection is closed
    EXPECT_EQ(end_attempt(machine, kUntouched), Report::NoResponse);
    EXPECT_EQ(machine.state(), State::Answer);
    EXPECT_EQ(machine.error(), error);
  }
}

TEST(ProxyMachine, ForwardsABoundedNumberOfInterimResponses) {
  ProxyMachine machine = reading();
  for (int i = 0; i < ProxyMachine::kMaxInterimResponses; ++i) {
    machine.on_response_head(i == 0 ? 100 : 103);
    EXPECT_EQ(machine.state(), State::SendInterim);
    machine.on_interim_sent();
    EXPECT_EQ(machine.state(), State::ReadHead);
  }
  machine.on_response_head(103);
  EXPECT_EQ(machine.state(), State::StopUpload);
  EXPECT_EQ(machine.on_upload_over(), Report::ServerFailed);
  EXPECT_EQ(machine.error(), ProxyError::MalformedResponse);
}

TEST(ProxyMachine, MalformedResponsesAreNotRetried) {
  ProxyMachine machine = reading(kGet, Connection::Reused, Last::No);
  machine.on_malformed_response();
  EXPECT_EQ(machine.state(), State::StopUpload);
  machine.on_upload_ended();
  EXPECT_EQ(machine.on_upload_over(), Report::ServerFailed);
  EXPECT_EQ(machine.state(), State::Answer);
  EXPECT_EQ(machine.error(), ProxyError::MalformedResponse);
}

TEST(ProxyMachine, RejectsAnUpgradeThatTheClientDidNotRequest) {
  ProxyMachine machine = reading(kGet);
  machine.on_response_head(101);
  EXPECT_EQ(machine.state(), State::StopUpload);
  EXPECT_EQ(machine.on_upload_over(), Report::ServerFailed);
  EXPECT_EQ(machine.error(), ProxyError::MalformedResponse);
}

TEST(ProxyMachine, TunnelsUntilBothSidesHaveClosed) {
  ProxyMachine server_first = reading(kUpgrade);
  server_first.on_response_head(101);
  EXPECT_EQ(server_first.state(), State::Tunnel);
  EXPECT_TRUE(server_first.wants_body());
  EXPECT_EQ(server_first.upstream_phase(), net::Phase::Processing);  // has its own timeout
  server_first.on_relayed(Relayed::Whole, AfterResponse::Close);
  EXPECT_EQ(server_first.state(), State::FinishUpload);
  EXPECT_TRUE(server_first.wants_body());
  server_first.on_uploaded(Last::Yes);
  EXPECT_EQ(server_first.on_upload_over(), Report::None);
  EXPECT_EQ(server_first.state(), State::Done);
  EXPECT_FALSE(server_first.keeps_connection());

  ProxyMachine client_first = reading(kUpgrade);
  client_first.on_response_head(101);
  client_first.on_uploaded(Last::Yes);
  EXPECT_EQ(client_first.state(), State::Tunnel);
  client_first.on_relayed(Relayed::Whole, AfterResponse::Close);
  EXPECT_FALSE(client_first.is_uploading());
  EXPECT_EQ(client_first.on_upload_over(), Report::None);
  EXPECT_EQ(client_first.state(), State::Done);
}

TEST(ProxyMachine, AFailedTunnelStopsBothDirections) {
  ProxyMachine machine = reading(kUpgrade);
  machine.on_response_head(101);
  machine.on_relayed(Relayed::Truncated, AfterResponse::Close);
  EXPECT_EQ(machine.state(), State::StopUpload);
  machine.on_upload_ended();
  EXPECT_EQ(machine.on_upload_over(), Report::None);
  EXPECT_EQ(machine.state(), State::Done);
}

TEST(ProxyMachine, AnUpgradeMayBeDeclined) {
  ProxyMachine machine = reading(kUpgrade);
  machine.on_response_head(426);
  EXPECT_EQ(machine.state(), State::Relay);
}

TEST(ProxyMachine, KeepsNoConnectionAfterATruncatedOrLastResponse) {
  ProxyMachine truncated = reading();
  truncated.on_response_head(200);
  truncated.on_relayed(Relayed::Truncated, AfterResponse::KeepAlive);
  EXPECT_EQ(truncated.state(), State::StopUpload);
  EXPECT_EQ(truncated.on_upload_over(), Report::None);  // the client has part of a response
  EXPECT_EQ(truncated.state(), State::Done);
  EXPECT_FALSE(truncated.keeps_connection());

  ProxyMachine closing = reading();
  closing.on_response_head(200);
  closing.on_relayed(Relayed::Whole, AfterResponse::Close);
  EXPECT_EQ(closing.on_upload_over(), Report::None);
  EXPECT_FALSE(closing.keeps_connection());
}

// As it also does when the server stops and the grace period is over.
TEST(ProxyMachine, EndsWithoutAnAnswerWhenTheClientDisconnectsInAnyState) {
  const auto expect_end = [](ProxyMachine machine) {
    SCOPED_TRACE(static_cast<int>(machine.state()));
    machine.on_client_disconnected();
    EXPECT_EQ(machine.state(), State::StopUpload);
    EXPECT_FALSE(machine.wants_body());
    // Results of what was in flight are late.
    machine.on_admitted();
    machine.on_permit();
    machine.on_allowed();
    machine.on_denied();
    machine.on_rejected(ProxyError::NoRoute);
    machine.on_server(0, Connection::None);
    EXPECT_EQ(machine.on_no_server(), Report::None);
    machine.on_connected();
    EXPECT_EQ(machine.on_connect_failed({}), Report::None);
    machine.on_head_sent(Last::No, 0);
    EXPECT_EQ(machine.on_send_failed(kClosed), Report::None);
    machine.on_response_head(200);
    machine.on_interim_sent();
    machine.on_malformed_response();
    machine.on_response_ended(kClosed);
    machine.on_relayed(Relayed::Whole, AfterResponse::KeepAlive);
    machine.on_answered();
    EXPECT_EQ(machine.state(), State::StopUpload);
    machine.on_upload_ended();
    EXPECT_EQ(machine.on_upload_over(), Report::None);
    EXPECT_EQ(machine.state(), State::Done);
    EXPECT_FALSE(machine.keeps_connection());
  };
  ProxyMachine machine;
  expect_end(machine);
  machine.on_admitted();
  expect_end(machine);
  machine.on_permit();
  expect_end(machine);
  expect_end(allowed());
  expect_end(sending());
  expect_end(reading());
  ProxyMachine connecting = allowed();
  connecting.on_server(0, Connection::None);
  expect_end(connecting);
  ProxyMachine uploading = reading(kPost, Connection::Reused, Last::No);
  expect_end(uploading);
  uploading.on_response_head(100);
  expect_end(uploading);
  ProxyMachine relaying = reading();
  relaying.on_response_head(200);
  expect_end(relaying);
  ProxyMachine tunnel = reading(kUpgrade);
  tunnel.on_response_head(101);
  expect_end(tunnel);
  tunnel.on_relayed(Relayed::Whole, AfterResponse::Close);
  expect_end(tunnel);
  ProxyMachine answering = allowed();
  EXPECT_EQ(answering.on_no_server(), Report::NoHealthyServer);
  expect_end(answering);
}

TEST(ProxyMachine, ADisconnectAfterTheEndChangesNothing) {
  ProxyMachine machine = reading();
  machine.on_response_head(200);
  machine.on_relayed(Relayed::Whole, AfterResponse::KeepAlive);
  machine.on_client_disconnected();
  EXPECT_EQ(machine.state(), State::Done);
  EXPECT_TRUE(machine.keeps_connection());
}

}  // namespace
}  // namespace penstock::gateway
