#pragma once

#include "base/deadline.hpp"
#include "penstock/result.hpp"
#include "resp/reply_writer.hpp"
#include "wire/resp/conversation.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace penstock::wire::resp {

using penstock::resp::ReplyWriter;

// The place of a reply that comes later; what it is written with is as the client wanted it when it
// asked.
class Later {
 public:
  Later(std::shared_ptr<Conversation> conversation, ReplyQueue::Ticket ticket)
      : conversation_(std::move(conversation)),
        ticket_(ticket),
        version_(conversation_->session().version) {}

  // `write` is given a ReplyWriter. Once.
  template <class Write>
  void reply(const Write& write) const {
    conversation_->answer(ticket_, [&](std::string& out) {
      ++conversation_->surroundings().statistics.responses[2];
      ReplyWriter writer(out, version_);
      write(writer);
    });
  }
  // It cannot be done as it was asked for; the first word is the code.
  void refuse(std::string_view error) const {
    conversation_->answer(ticket_, [&](std::string& out) {
      conversation_->count_mistake();
      ReplyWriter(out, version_).error(error);
    });
  }
  // The store could not be asked, or would not do it. Never a denial.
  void fail(const Error& error) const;

 private:
  std::shared_ptr<Conversation> conversation_;
  ReplyQueue::Ticket ticket_;
  penstock::resp::Version version_;
};

// One command, and where its reply goes. Lives while the command is begun.
class Exchange {
 public:
  Exchange(Conversation& conversation, std::span<const std::string_view> words)
      : conversation_(conversation), words_(words) {}

  // The name of the command is the first.
  [[nodiscard]] std::string_view word(std::size_t i) const { return words_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }
  [[nodiscard]] std::span<const std::string_view> words() const noexcept { return words_; }

  [[nodiscard]] Conversation& conversation() const noexcept { return conversation_; }
  [[nodiscard]] Session& session() const noexcept { return conversation_.session(); }
  [[nodiscard]] Surroundings& surroundings() const noexcept { return conversation_.surroundings(); }
  [[nodiscard]] store::Store& store() const noexcept { return surroundings().service.store(); }
  [[nodiscard]] base::Deadline deadline() const {
    return base::deadline_after(surroundings().terms.request_timeout);
  }

  // Exactly one of these, for every command:
  [[nodiscard]] ReplyWriter reply() const {
    ++surroundings().statistics.responses[2];
    return {conversation_.queue().end(), session().version};
  }
  void refuse(std::string_view error) const {
    conversation_.count_mistake();
    ReplyWriter(conversation_.queue().end(), session().version).error(error);
  }
  [[nodiscard]] Later later() const {
    return {conversation_.shared_from_this(), conversation_.queue().keep_place()};
  }

 private:
  Conversation& conversation_;
  std::span<const std::string_view> words_;
};

}  // namespace penstock::wire::resp
