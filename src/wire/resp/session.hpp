#pragma once

#include "base/check.hpp"
#include "net/server_state.hpp"
#include "net/session.hpp"
#include "penstock/time.hpp"
#include "resp/command_reader.hpp"
#include "resp/reply_writer.hpp"
#include "service/service.hpp"
#include "wire/resp/throttle.hpp"
#include "wire/resp/transaction.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::wire::resp {

// Settings of a server for all its clients.
struct ServerSettings {
  penstock::resp::CommandLimits limits{};
  std::vector<std::string> passwords{};  // any of them is valid; empty: no AUTH needed
  std::string version{};                 // of the program, for HELLO and INFO
  // For limits in a command, while the store is unavailable. Empty: an error.
  std::optional<rules::OnFailure> on_failure{};
  Duration request_timeout = std::chrono::seconds{1};
  std::size_t max_in_flight = 1000;  // commands of one connection that wait for the store
};

// What the sessions of a server share. They keep it alive, but not the service, which is not called
// after the server is destroyed.
struct ServerContext : net::ServerState {
  explicit ServerContext(service::Service& rate_limits, ServerSettings server_settings = {},
                         net::Timeouts::Durations phases = {})
      : ServerState(phases), service(rate_limits), settings(std::move(server_settings)) {}

  service::Service& service;
  ServerSettings settings;
  QuotaCache quotas{};
  std::uint64_t last_client_id = 0;  // clients are numbered
  bool is_exposed = false;           // other machines can connect
};

// Replies in the order of their commands, though some come later than others: the text behind a
// missing reply waits for it.
//
// Thread-safety: none.
class ReplyQueue {
 public:
  using Ticket = std::uint64_t;

  // Where a reply that is known at once is written.
  [[nodiscard]] std::string& end() { return waiting_.empty() ? ready_ : waiting_.back().behind; }

  // Keeps a place for a reply that comes later.
  [[nodiscard]] Ticket reserve_place() {
    waiting_.emplace_back();
    return first_ + waiting_.size() - 1;
  }

  // `write` is given the text to append to. REQUIRES: once for each place.
  template <class Write>
  void fill(Ticket ticket, const Write& write) {
    PENSTOCK_CHECK(ticket >= first_ && ticket - first_ < waiting_.size());
    PendingReply& place = waiting_[static_cast<std::size_t>(ticket - first_)];
    PENSTOCK_CHECK(!place.is_filled);
    place.is_filled = true;
    if (ticket == first_) {
      write(ready_);
    } else {
      write(place.reply);
      held_ += place.reply.size();
    }
    while (!waiting_.empty() && waiting_.front().is_filled) {
      held_ -= waiting_.front().reply.size() + waiting_.front().counted;
      ready_ += waiting_.front().reply;
      ready_ += waiting_.front().behind;
      waiting_.pop_front();
      ++first_;
    }
  }

  // Counts the bytes written to end(). Call it before the next place is reserved or filled.
  void count_end() noexcept {
    if (waiting_.empty()) return;
    PendingReply& last = waiting_.back();
    held_ += last.behind.size() - last.counted;
    last.counted = last.behind.size();
  }
  // Bytes that wait for a reply that is missing.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

  // Bytes to send.
  [[nodiscard]] std::string& ready() noexcept { return ready_; }
  [[nodiscard]] const std::string& ready() const noexcept { return ready_; }
  [[nodiscard]] std::size_t missing() const noexcept { return waiting_.size(); }

 private:
  struct PendingReply {
    std::string reply{};
    std::string behind{};     // replies that were known at once
    std::size_t counted = 0;  // of it, in held_
    bool is_filled = false;
  };

  std::string ready_;
  std::deque<PendingReply> waiting_;
  std::size_t held_ = 0;
  Ticket first_ = 0;  // the ticket of the first that waits
};

// What is known about a client.
struct ClientInfo {
  std::uint64_t id = 0;
  std::string peer{};
  penstock::resp::Version version = penstock::resp::Version::Two;
  bool is_authenticated = false;  // may do more than AUTH, HELLO and QUIT
  std::string name{};
  std::string library{};
};

// RESP without the I/O (net::Session): reads commands, runs them, keeps their replies in order. All
// commands that have arrived are started before the first reply of the store is awaited, so that
// they reach it in one batch. Reading stops while too many commands are in flight or too many
// replies unsent. When the server stops, the session ends after the commands in flight, or after
// the first if there was none yet.
//
// Ownership: shared with the pending replies. Thread-safety: none.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using Step = net::Step;

  // `server_context` outlives the session, or is not used after detach().
  Session(ServerContext& server_context, std::string peer);

  [[nodiscard]] Step advance();
  [[nodiscard]] penstock::resp::CommandReader& reader() noexcept { return reader_; }

  [[nodiscard]] std::span<char> prepare() { return reader_.prepare(); }
  void commit(std::size_t bytes) noexcept { reader_.commit(bytes); }
  [[nodiscard]] net::Activity activity() const noexcept;
  [[nodiscard]] static net::TimeoutAction on_timeout(net::Phase /*phase*/) noexcept {
    return net::TimeoutAction::Abort;
  }
  [[nodiscard]] bool closes_silently() const noexcept {
    return !awaits_answers() && !has_output() && !has_unfinished_input();
  }
  [[nodiscard]] bool has_output() const noexcept { return !queue_.ready().empty(); }
  // REQUIRES: the previous output was sent.
  [[nodiscard]] std::string_view take_output();
  [[nodiscard]] bool awaits_answers() const noexcept { return queue_.missing() > 0; }
  // There are commands that have not been begun, or not arrived in full.
  [[nodiscard]] bool has_unfinished_input() const noexcept {
    return deferred_ || transaction_.is_running() || reader_.is_within_command();
  }
  // Authenticated clients stay authenticated; without a password all of them are.
  void reload() {
    set_authenticated(client_info_.is_authenticated || server_context_.settings.passwords.empty());
  }
  // Nothing more will come.
  [[nodiscard]] bool is_done() const noexcept {
    return closing_ && !has_output() && !awaits_answers();
  }

  // Sends this error, and ends.
  void reject(std::string_view error);
  void detach() noexcept;

  std::function<void()> on_output;  // a pending reply has come

  // For commands:
  [[nodiscard]] ClientInfo& client_info() noexcept { return client_info_; }
  [[nodiscard]] ServerContext& server_context() noexcept { return server_context_; }
  [[nodiscard]] ReplyQueue& queue() noexcept { return queue_; }
  [[nodiscard]] Transaction& transaction() noexcept { return transaction_; }
  // Applies the limits of authenticated, or unauthenticated, clients.
  void set_authenticated(bool is_authenticated);
  void close_after_reply() noexcept { closing_ = true; }
  void count_client_error() noexcept { ++server_context_.statistics.responses[4]; }
  // An answer of the store has come.
  template <class Write>
  void answer(ReplyQueue::Ticket ticket, const Write& write) {
    if (detached_) return;
    queue_.fill(ticket, write);
    if (!advancing_ && on_output) on_output();
  }

 private:
  [[nodiscard]] penstock::resp::CommandReader::Progress next_command();
  void run();
  void close_on_http();

  ServerContext& server_context_;
  ClientInfo client_info_;
  penstock::resp::CommandReader reader_;
  ReplyQueue queue_;
  Transaction transaction_;
  std::span<const std::string_view> words_;  // of the command that is next, or being run
  std::string sending_;
  bool advancing_ = false;
  bool deferred_ = false;  // a command has been read, and waits for answers to others
  bool closing_ = false;
  bool detached_ = false;
};

}  // namespace penstock::wire::resp
