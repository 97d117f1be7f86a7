#include "redis_store/lease/lease_calls.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/batch/check_queue.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace penstock::redis_store {
namespace {

// Shared by all calls of one lease request.
struct LeaseContext {
  redis::Client& client;
  const ScriptSet& scripts;
  base::Deadline deadline;
  Leased leased;
};

using Places = std::vector<std::size_t>;

class LeaseCall final : public redis::Call {
 public:
  LeaseCall(std::shared_ptr<const LeaseContext> context, LeaseCommand question, Places places)
      : context_(std::move(context)), question_(std::move(question)), places_(std::move(places)) {}

  static void send(std::shared_ptr<const LeaseContext> context, LeaseCommand question,
                   Places places) {
    redis::Command command = question.command(context->scripts);
    command.deadline = context->deadline;
    redis::Client& client = context->client;
    client.send(
        std::move(command),
        std::make_unique<LeaseCall>(std::move(context), std::move(question), std::move(places)));
  }

  void on_reply(Result<resp::Value> reply) override {
    if (!reply) return fail(reply.error());
    const Result<LeaseGrants> grants = question_.read(*reply);
    if (!grants) return fail(grants.error());
    Places unread;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto& grant = (*grants)[i];
      if (grant) {
        context_->leased(places_[i], *grant);
      } else if (question_.reads() == Reads::OneAlgorithm) {
        unread.push_back(i);
      } else {
        context_->leased(places_[i], Error{ErrorCode::Protocol,
                                           "key \"" + question_.asks()[i].key +
                                               "\" or its escrow holds no state of this version"});
      }
    }
    if (!unread.empty()) ask_again(unread, Reads::All);
  }

  // REQUIRES: several; the keys of one strict lease stay in one call.
  bool split() override {
    if (places_.size() < 2) return false;
    for (std::size_t i = 0; i < places_.size(); ++i) ask_again({i}, question_.reads());
    return true;
  }

 private:
  void ask_again(const Places& some, Reads reads) const {
    std::vector<KeyLeaseRequest> asks;
    Places places;
    for (const std::size_t i : some) {
      asks.push_back(question_.asks()[i]);
      places.push_back(places_[i]);
    }
    send(context_, LeaseCommand(std::move(asks), reads), std::move(places));
  }

  void fail(const Error& error) const {
    for (const std::size_t place : places_) context_->leased(place, error);
  }

  std::shared_ptr<const LeaseContext> context_;
  LeaseCommand question_;
  Places places_;
};

// The algorithm of the script that grants a plain lease.
Algorithm script_of(const KeyLeaseRequest& ask) {
  const Algorithm algorithm = ask.quota.algorithm();
  if (algorithm == Algorithm::Gcra) return Algorithm::TokenBucket;
  if (algorithm == Algorithm::AnchoredWindow) return Algorithm::FixedWindow;
  return algorithm;
}

}  // namespace

void lease(redis::Client& client, const ScriptSet& scripts, std::vector<KeyLeaseRequest> asks,
           base::Deadline deadline, Leased leased) {
  std::map<std::tuple<bool, Algorithm, std::uint16_t>, Places> groups;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const std::uint16_t slot = client.is_cluster() ? redis::hash_slot(asks[i].key) : 0;
    groups[{asks[i].strict_lifetime.has_value(), script_of(asks[i]), slot}].push_back(i);
  }
  const auto context = std::make_shared<const LeaseContext>(
      LeaseContext{client, scripts, deadline, std::move(leased)});
  for (const auto& [group, places] : groups) {
    const std::size_t keys_of_each = std::get<bool>(group) ? 2 : 1;
    const std::size_t most = CheckQueue::kMaxKeys / keys_of_each;
    for (std::size_t start = 0; start < places.size(); start += most) {
      std::vector<KeyLeaseRequest> together;
      Places these;
      for (std::size_t i = start; i < std::min(start + most, places.size()); ++i) {
        together.push_back(std::move(asks[places[i]]));
        these.push_back(places[i]);
      }
      LeaseCall::send(context, LeaseCommand(std::move(together), Reads::OneAlgorithm),
                      std::move(these));
    }
  }
}

}  // namespace penstock::redis_store
