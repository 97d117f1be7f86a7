#include "daemon/api_forwarder.hpp"

#include "http/problem.hpp"

#include <boost/asio/post.hpp>

#include <string>
#include <utility>
#include <vector>

namespace penstock::daemon {
namespace {

// A request with its own texts.
struct OwnedRequest {
  explicit OwnedRequest(const http::Request& from)
      : method(from.method),
        path(from.path),
        query(from.query),
        body(from.body),
        peer(from.peer),
        request(from) {
    fields.reserve(from.fields.size());
    for (const http::Field& field : from.fields) fields.emplace_back(field.name, field.value);
    request.method = method;
    request.path = path;
    request.query = query;
    request.authority = {};
    request.body = body;
    request.peer = peer;
    request.fields.clear();
    for (const auto& [name, value] : fields) request.fields.push_back({name, value});
  }
  OwnedRequest(const OwnedRequest&) = delete;
  OwnedRequest& operator=(const OwnedRequest&) = delete;

  std::string method;
  std::string path;
  std::string query;
  std::string body;
  std::string peer;
  std::vector<std::pair<std::string, std::string>> fields;
  http::Request request;  // of the texts above
};

http::Response unavailable(std::string_view why) {
  return http::problem_response({.status = 503, .detail = why});
}

}  // namespace

void ApiForwarder::call(const http::Request& request, http::Handler::Respond respond) {
  if (pending_.size() >= kMaxPending) return respond(unavailable("too many calls are in flight"));
  const std::uint64_t id = ++last_id_;
  pending_.emplace(id, Pending{.respond = std::move(respond), .deadline = request.deadline});
  const auto owned = std::make_shared<const OwnedRequest>(request);
  call_api_({owned, &owned->request}, [this, id, &loop = loop_](http::Response response) {
    // on the thread of the worker, perhaps after this was destroyed: only the loop is used
    boost::asio::post(loop, [this, id, response = std::move(response)]() mutable {
      answer(id, std::move(response));
    });
  });
}

void ApiForwarder::answer(std::uint64_t id, http::Response response) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;  // expired
  const http::Handler::Respond respond = std::move(found->second.respond);
  pending_.erase(found);
  respond(std::move(response));
}

void ApiForwarder::expire(base::Deadline now) {
  std::vector<std::uint64_t> late;
  for (const auto& [id, pending] : pending_) {
    if (pending.deadline <= now) late.push_back(id);
  }
  for (const std::uint64_t id : late) answer(id, unavailable("no answer in time"));
}

}  // namespace penstock::daemon
