#include "redis_store/together.hpp"

#include "redis/hash_slot.hpp"
#include "redis_store/together_call.hpp"

#include <chrono>
#include <map>

namespace penstock::redis_store {
namespace {

// How long giving back may take: its caller has been refused by then, and waits for nothing else.
constexpr std::chrono::milliseconds kRefundPatience{100};

// A request whose keys live in several slots of a cluster: debited one after the other, in the
// order of the slots, which is the same for everybody. When one refuses, those before it get back
// what was taken, and those after it are told.
class Journey : public std::enable_shared_from_this<Journey> {
 public:
  struct Stop {
    TogetherRequest request{};
    std::vector<std::size_t> places{};  // of its checks in the request
  };

  Journey(redis::Client& client, const ScriptSet& scripts, std::vector<Stop> stops,
          std::size_t checks, base::Deadline deadline, RedisStore::Decided decided)
      : client_(client),
        scripts_(scripts),
        stops_(std::move(stops)),
        decisions_(checks),
        deadline_(deadline),
        decided_(std::move(decided)) {}

  void visit(std::size_t stop) {
    ask_at(stop, Plan::Kind::Take, deadline_,
           [self = shared_from_this(), stop](const auto& said) { self->on_visited(stop, said); });
  }

 private:
  void ask_at(std::size_t stop, Plan::Kind kind, base::Deadline deadline,
              TogetherAnswered answered) {
    ask(client_, scripts_, std::make_shared<const TogetherQuestion>(stops_[stop].request, kind),
        deadline, std::move(answered));
  }

  void on_visited(std::size_t stop, const Result<TogetherAnswer>& said) {
    if (!said) {
      failure_ = said.error();
      return turn_back(stop, stops_.size());
    }
    note(stop, *said);
    if (!said->passed) return turn_back(stop, stop + 1);
    if (stop + 1 < stops_.size()) return visit(stop + 1);
    decided_(std::move(decisions_));
  }

  // Gives back at the stops before `refused`, and asks what those from `unseen` on would have said.
  void turn_back(std::size_t refused, std::size_t unseen) {
    open_ = 1;
    for (std::size_t stop = 0; stop < refused; ++stop) {
      await(stop, Plan::Kind::GiveBack, base::deadline_after(kRefundPatience));
    }
    for (std::size_t stop = unseen; stop < stops_.size(); ++stop) {
      await(stop, Plan::Kind::Refuse, deadline_);
    }
    close_one();
  }

  void await(std::size_t stop, Plan::Kind kind, base::Deadline deadline) {
    ++open_;
    ask_at(stop, kind, deadline,
           [self = shared_from_this(), stop](const Result<TogetherAnswer>& said) {
             if (said) {
               self->note(stop, *said);
             } else if (!self->failure_) {
               self->failure_ = said.error();
             }
             self->close_one();
           });
  }

  void close_one() {
    if (--open_ > 0) return;
    if (failure_) {
      decided_(*failure_);
    } else {
      decided_(std::move(decisions_));
    }
  }

  void note(std::size_t stop, const TogetherAnswer& said) {
    for (std::size_t i = 0; i < said.decisions.size(); ++i) {
      decisions_[stops_[stop].places[i]] = said.decisions[i];
    }
  }

  redis::Client& client_;
  const ScriptSet& scripts_;
  std::vector<Stop> stops_;
  std::vector<Decision> decisions_;
  base::Deadline deadline_;
  RedisStore::Decided decided_;
  std::optional<Error> failure_;
  std::size_t open_ = 0;
};

std::vector<Journey::Stop> stops_of(const TogetherRequest& request) {
  std::map<std::uint16_t, Journey::Stop> by_slot;
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    Journey::Stop& stop = by_slot[redis::hash_slot(request.checks[i].key)];
    stop.request.checks.push_back(request.checks[i]);
    stop.places.push_back(i);
  }
  std::vector<Journey::Stop> stops;
  stops.reserve(by_slot.size());
  for (auto& [slot, stop] : by_slot) stops.push_back(std::move(stop));
  return stops;
}

TogetherAnswered decisions_to(RedisStore::Decided decided) {
  return [decided = std::move(decided)](Result<TogetherAnswer> answer) {
    if (!answer) return decided(answer.error());
    decided(std::move(answer->decisions));
  };
}

}  // namespace

void check_together(redis::Client& client, const ScriptSet& scripts, TogetherQueue& queue,
                    WaitingRequest waiting) {
  // the keys of a guarded request share the subject, and so the slot
  if (!waiting.request.guard.empty()) return ask_alone(client, scripts, std::move(waiting));
  if (client.is_cluster()) {
    std::vector<Journey::Stop> stops = stops_of(waiting.request);
    if (stops.size() > 1) {
      std::make_shared<Journey>(client, scripts, std::move(stops), waiting.request.checks.size(),
                                waiting.deadline, std::move(waiting.decided))
          ->visit(0);
      return;
    }
  }
  queue.add(std::move(waiting));
}

void ask_alone(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting) {
  ask(client, scripts,
      std::make_shared<const TogetherQuestion>(std::move(waiting.request), Plan::Kind::Take),
      waiting.deadline, decisions_to(std::move(waiting.decided)));
}

void refund(redis::Client& client, const ScriptSet& scripts, WaitingRequest waiting) {
  ask(client, scripts,
      std::make_shared<const TogetherQuestion>(std::move(waiting.request), Plan::Kind::GiveBack),
      waiting.deadline, decisions_to(std::move(waiting.decided)));
}

}  // namespace penstock::redis_store
