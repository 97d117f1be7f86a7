#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "resp/reply_writer.hpp"
#include "wire/resp/session.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace penstock::wire::resp {

using penstock::resp::ReplyWriter;

// The place of a reply that comes later, in the protocol version at the time of the command.
class DeferredReply {
 public:
  DeferredReply(std::shared_ptr<Session> session, ReplyQueue::Ticket ticket)
      : session_(std::move(session)), ticket_(ticket), version_(session_->client_info().version) {}

  // `write` is given a ReplyWriter. Once.
  template <class Write>
  void reply(const Write& write) const {
    session_->answer(ticket_, [&](std::string& out) {
      ++session_->server_context().statistics.responses[2];
      ReplyWriter writer(out, version_);
      write(writer);
    });
  }
  // The command is invalid; the first word is the code.
  void error(std::string_view error) const {
    session_->answer(ticket_, [&](std::string& out) {
      session_->count_client_error();
      ReplyWriter(out, version_).error(error);
    });
  }
  // The store failed. Never a denial.
  void fail(const Error& error) const;

 private:
  std::shared_ptr<Session> session_;
  ReplyQueue::Ticket ticket_;
  penstock::resp::Version version_;
};

// One command, and where its reply goes. Lives while the command is begun.
class CommandContext {
 public:
  CommandContext(Session& session, std::span<const std::string_view> words)
      : session_(session), words_(words) {}

  // The name of the command is the first.
  [[nodiscard]] std::string_view word(std::size_t i) const { return words_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }
  [[nodiscard]] std::span<const std::string_view> words() const noexcept { return words_; }

  [[nodiscard]] Session& session() const noexcept { return session_; }
  [[nodiscard]] ClientInfo& client_info() const noexcept { return session_.client_info(); }
  [[nodiscard]] ServerContext& server_context() const noexcept { return session_.server_context(); }
  [[nodiscard]] const store::Stores& stores() const noexcept {
    return server_context().service.stores();
  }
  [[nodiscard]] base::Deadline deadline() const {
    return base::deadline_after(server_context().settings.request_timeout);
  }

  // Exactly one of these, for every command:
  [[nodiscard]] ReplyWriter reply() const {
    ++server_context().statistics.responses[2];
    return {session_.queue().end(), client_info().version};
  }
  void error(std::string_view error) const {
    session_.count_client_error();
    ReplyWriter(session_.queue().end(), client_info().version).error(error);
  }
  [[nodiscard]] DeferredReply defer() const {
    return {session_.shared_from_this(), session_.queue().reserve_place()};
  }

 private:
  Session& session_;
  std::span<const std::string_view> words_;
};

}  // namespace penstock::wire::resp
