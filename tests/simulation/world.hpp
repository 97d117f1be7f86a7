#pragma once

#include "simulation/envelope.hpp"
#include "simulation/node.hpp"
#include "simulation/random.hpp"

#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace penstock::simulation {

// The result of a run.
struct Outcome {
  std::vector<std::string> broken{};  // broken promises
  std::uint64_t checks = 0;
  std::uint64_t calls = 0;     // to the store
  std::uint64_t repeated = 0;  // denials without a call
  std::uint64_t admitted = 0;  // units
  std::uint64_t ideal = 0;     // units that one bucket or window without delay admits
  double worst = 0;            // excess relative to the allowance
  double excess = 0;           // excess in tokens; negative when below
};

// Nodes, a network and a store in virtual time, fully determined by the scenario.
class World final : public NodeContext {
 public:
  World(const Scenario& scenario, Defect defect);

  [[nodiscard]] Outcome run();

 private:
  struct Event {
    Moment at{};
    std::uint64_t number = 0;  // order of events at the same time
    std::function<void()> task{};

    friend bool operator<(const Event& a, const Event& b) {
      return a.at != b.at ? a.at > b.at : a.number > b.number;
    }
  };
  struct Host {
    std::shared_ptr<Node> node{};
    Moment clock_starts{};
    std::int64_t drift_ppm = 0;
    Moment partitioned_until{};
    bool fails_fast = false;  // while partitioned: calls fail instead of being lost
    Moment stale_until{};     // its view of the store may be stale until then
  };

  [[nodiscard]] base::Deadline clock_of(const Node& node) const override;
  void post(Node& node, std::function<void()> task) override;
  void wake_at(Node& node, base::Deadline deadline, std::function<void()> task) override;
  void call(Node& node, std::function<Reply(ModelStore&, Instant)> executed,
            std::function<void(const Error&)> failed) override;
  void publish(bool is_revoked) override;
  void admit(std::uint64_t units) override;
  void note_held(std::uint64_t units) override;
  void denied_from_cache(const Node& node, Cost cost) override;

  void at(Moment moment, std::function<void()> task);
  [[nodiscard]] Host& host_of(const Node& node);
  [[nodiscard]] const Host& host_of(const Node& node) const;
  [[nodiscard]] Moment latency();
  [[nodiscard]] Instant store_time() const;
  [[nodiscard]] Instant steady_time() const;
  [[nodiscard]] bool is_lost(const Host& host);
  void start(Host& host);

  void arrive();
  void arrive_at(Host& host);
  [[nodiscard]] Moment next_gap();
  [[nodiscard]] Moment until_boundary() const;

  void inject_fault();
  void stop_node(Host& host);
  void partition(Host& host);
  void fail_over();
  void step_clock();
  void act_as_operator();
  void mark_all_stale(Moment until);
  void remember();

  void promise_broken(std::string what);
  [[nodiscard]] Envelope::Units allowance() const;
  void check_leases();
  void check_answers();

  Scenario scenario_;
  Defect defect_;
  Random random_;
  ModelStore store_;
  core::AnyState ideal_;
  Envelope envelope_;
  Envelope::Units fault_allowance_ = 0;
  std::uint64_t most_held_ = 0;  // by one node
  std::vector<Host> hosts_;
  std::deque<Request> requests_;
  std::vector<std::pair<std::size_t, Request*>> open_;  // host and request
  std::priority_queue<Event> events_;
  std::uint64_t event_number_ = 0;
  Moment now_{};
  Instant begins_;
  Duration stepped_{};
  std::deque<std::pair<Moment, StoredState>> history_;  // if the store may fail over
  Moment blocked_at_{};
  Moment blocked_until_{};
  bool windows_are_unsure_ = false;
  bool leases_are_unsure_ = false;  // the store has lost some
  Outcome outcome_;
};

[[nodiscard]] inline Outcome simulate(const Scenario& scenario, Defect defect = Defect::None) {
  return World(scenario, defect).run();
}

}  // namespace penstock::simulation
