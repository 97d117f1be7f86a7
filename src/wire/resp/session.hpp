#pragma once

#include "resp/command_reader.hpp"
#include "resp/reply_writer.hpp"
#include "wire/resp/reply_queue.hpp"
#include "wire/resp/server_context.hpp"
#include "wire/resp/transaction.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock::wire::resp {

// What a client has said about itself.
struct ClientInfo {
  std::uint64_t id = 0;
  std::string peer{};
  penstock::resp::Version version = penstock::resp::Version::Two;
  bool is_authenticated = false;  // may do more than AUTH, HELLO and QUIT
  std::string name{};
  std::string library{};
};

// Everything a connection does but the I/O: reads commands, runs them, keeps their replies in
// order. All commands that have arrived are begun before the first answer of the store is awaited,
// so that they reach it together. advance() says what to do about reading:
//
//   Read   fill reader().prepare(), commit(), and advance() again
//   Pause  enough is under way or unsent; advance() again after on_answer or when all was sent
//   Close  nothing more is read: send what there is, until is_done()
//
// Output may be there at any time. Ownership: shared with the answers that are awaited.
// Thread-safety: none.
class Session : public std::enable_shared_from_this<Session> {
 public:
  enum class Step : std::uint8_t { Read, Pause, Close };

  // `server_context` outlives the session, or its end as on_disconnect() tells it.
  Session(ServerContext& server_context, std::string peer);

  [[nodiscard]] Step advance();
  [[nodiscard]] penstock::resp::CommandReader& reader() noexcept { return reader_; }

  [[nodiscard]] bool has_output() const noexcept { return !queue_.ready().empty(); }
  // Valid until the next take_output(). REQUIRES: what was taken before is sent.
  [[nodiscard]] std::string_view take_output();
  [[nodiscard]] bool awaits_answers() const noexcept { return queue_.missing() > 0; }
  // There are commands that have not been begun, or not arrived in full.
  [[nodiscard]] bool has_unfinished_input() const noexcept {
    return deferred_ || transaction_.is_running() || reader_.is_within_command();
  }
  // Nothing more will come.
  [[nodiscard]] bool is_done() const noexcept {
    return closing_ && !has_output() && !awaits_answers();
  }

  // Says this, and ends.
  void reject(std::string_view error);
  // Ends after the commands in flight, or the first if there was none yet.
  void close_when_idle() noexcept { close_when_idle_ = true; }
  // Nobody is there to answer to: late answers go nowhere.
  void on_disconnect() noexcept;

  std::function<void()> on_answer;  // when one came that was awaited

  // For commands:
  [[nodiscard]] ClientInfo& client_info() noexcept { return client_info_; }
  [[nodiscard]] ServerContext& server_context() noexcept { return server_context_; }
  [[nodiscard]] ReplyQueue& queue() noexcept { return queue_; }
  [[nodiscard]] Transaction& transaction() noexcept { return transaction_; }
  // The client has shown who it is, or is a stranger again.
  void set_authenticated(bool is_authenticated);
  void close_after_reply() noexcept { closing_ = true; }
  void count_client_error() noexcept { ++server_context_.statistics.responses[4]; }
  // An answer of the store has come.
  template <class Write>
  void answer(ReplyQueue::Ticket ticket, const Write& write) {
    if (detached_) return;
    queue_.fill(ticket, write);
    if (!advancing_ && on_answer) on_answer();
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
  bool close_when_idle_ = false;
  bool detached_ = false;
};

}  // namespace penstock::wire::resp
