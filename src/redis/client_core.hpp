#pragma once

#include "redis/client.hpp"
#include "redis/cluster_router.hpp"
#include "redis/node.hpp"
#include "redis/pending.hpp"
#include "redis/sentinel.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::redis {

// Implementation of Client: the nodes, the routing, and the commands that wait for a retry.
// Handlers hold the Core, not the Client: after stop() they do nothing.
class Client::Core : public NodeOwner, public std::enable_shared_from_this<Core> {
 public:
  Core(boost::asio::any_io_executor executor, Options options, std::vector<const Script*> scripts);

  void start();
  void stop();
  void send(Command command, std::unique_ptr<Call> call);
  [[nodiscard]] Result<void> reload(Options options);

  [[nodiscard]] bool is_cluster() const noexcept { return router_.has_value(); }
  [[nodiscard]] std::vector<NodeId> masters() const;
  [[nodiscard]] std::string address_of(NodeId node) const;
  [[nodiscard]] ClientHealth health() const;
  [[nodiscard]] ClientStats stats() const noexcept;
  [[nodiscard]] std::shared_ptr<FailFast> fail_fast() const { return fail_fast_; }

  void on_reply(Node& node, PendingPtr pending, resp::Value reply) override;
  void on_unsent(Node& node, PendingPtr pending, Error why) override;
  void on_lost(Node& node, std::unique_ptr<Call> call, Error why) override;
  void on_connected(Node& node) override;
  void on_unavailable(Node& node) override;
  void on_fail_fast_changed(Node& node) override;
  void on_event(const RedisEvent& event) override;
  [[nodiscard]] bool wants_connection(const Node& node) const override;

 private:
  class MapCall;
  using Time = base::Deadline;

  [[nodiscard]] const Options& options() const noexcept { return settings_->options; }

  void dispatch(PendingPtr pending);
  void submit(Node& node, PendingPtr pending);
  void apply_action(const ClusterRouter::Action& action, PendingPtr pending, Error why);
  void resend(PendingPtr pending);
  void send_with_script_text(PendingPtr pending, Error why);
  void send_later(PendingPtr pending, Error why);
  // Fails the call, but not from within this function.
  void fail(std::unique_ptr<Call> call, Error why);
  void arm_timer();
  void on_timer();

  // Cluster only.
  void dispatch_by_slot(PendingPtr pending);
  [[nodiscard]] Node& node_at(NodeId id);
  void want_map();
  void start_refresh(Time now);
  void ask_next_for_map(Error last);
  void on_map(NodeId answered_by, Result<resp::Value> reply);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<NodeSettings> settings_;
  std::vector<std::shared_ptr<Node>> nodes_;  // by NodeId
  std::shared_ptr<SentinelLocator> sentinels_;
  ClientStats stats_;
  std::shared_ptr<FailFast> fail_fast_ = std::make_shared<FailFast>();
  DeferredErrors deferred_errors_;
  RetryQueue retries_;
  boost::asio::steady_timer timer_;
  Time armed_at_ = Time::max();
  bool delivery_posted_ = false;
  bool started_ = false;
  bool stopped_ = false;

  // Cluster only.
  std::optional<ClusterRouter> router_;
  RefreshPace pace_;
  std::size_t refreshes_ = 0;
  std::deque<NodeId> map_candidates_;  // still to query for the map
  RetryQueue awaiting_map_;            // by deadline
  std::optional<Error> map_failure_;   // why there is no map
};

}  // namespace penstock::redis
