#include "servers/fault_proxy.hpp"

#include "base/deadline.hpp"
#include "servers/loopback.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace penstock::servers {
namespace {

using TimePoint = base::Deadline;

constexpr std::size_t kMaxQueued = std::size_t{1} << 20;  // beyond it the sender blocks

struct Faults {
  std::chrono::microseconds request_delay{};
  std::chrono::microseconds reply_delay{};
  std::optional<std::size_t> slice{};
  std::chrono::microseconds gap{};
  std::optional<std::uint64_t> cut_after{};
  std::optional<std::uint64_t> corrupt{};
  bool stalled = false;
};

// One direction of one connection.
struct Flow {
  struct Piece {
    std::string bytes;
    TimePoint due;
  };

  std::deque<Piece> queue{};
  std::size_t queued = 0;  // bytes
  TimePoint gap_end{};
  enum class End : std::uint8_t { Open, Seen, PassedOn } end = End::Open;

  [[nodiscard]] bool wants_bytes() const { return end == End::Open && queued < kMaxQueued; }
  [[nodiscard]] TimePoint due() const { return std::max(queue.front().due, gap_end); }
  [[nodiscard]] bool has_due(TimePoint now) const { return !queue.empty() && due() <= now; }
};

struct Link {
  FileDescriptor client;
  FileDescriptor server;
  Flow requests{};
  Flow replies{};

  [[nodiscard]] bool is_closed() const { return !client.is_open(); }
  void close() {
    for (FileDescriptor* socket : {&client, &server}) {
      // With unread bytes, close() would send a RST and discard what was sent before.
      ::shutdown(socket->number(), SHUT_WR);
      std::array<char, 4096> unread{};
      while (::recv(socket->number(), unread.data(), unread.size(), MSG_DONTWAIT) > 0) {
      }
      socket->close();
    }
  }
  void reset() {
    for (FileDescriptor* socket : {&client, &server}) {
      const linger at_once{1, 0};
      ::setsockopt(socket->number(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      socket->close();
    }
  }
};

}  // namespace

// Everything except tasks_ belongs to the thread; other threads send it tasks and wait for them.
class FaultProxy::Loop {
 public:
  explicit Loop(std::uint16_t server_port) : server_port_(server_port) {
    thread_ = std::thread([this] { work(); });
  }
  ~Loop() {
    run([this] { stopping_ = true; });
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }

  void run(std::function<void()> work) {
    std::packaged_task<void()> task(std::move(work));
    std::future<void> done = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    ::eventfd_write(wake_.number(), 1);
    done.get();
  }

  // Accessed by tasks.
  Faults faults{};
  Counts counts{};
  std::uint64_t corrupt_seen = 0;
  std::vector<Link> links{};

  void listen() {
    if (!listener_.is_open()) {
      listener_ = listen_on(port_);
    }
  }
  void close_port() { listener_.close(); }

 private:
  void work() {
    std::vector<pollfd> watched;
    while (!stopping_) {
      const auto left = watch(watched);
      const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
      ::ppoll(watched.data(), watched.size(), left.count() < 0 ? nullptr : &timeout, nullptr);
      const TimePoint now = base::monotonic_now();
      for (std::size_t i = 0; i < links.size(); ++i) {
        serve(links[i], watched[2 + 2 * i].revents != 0, watched[3 + 2 * i].revents != 0, now);
      }
      if (watched[1].revents != 0) {
        accept();
      }
      std::erase_if(links, [](const Link& link) { return link.is_closed(); });
      run_tasks();
    }
    links.clear();
  }

  // What to poll for; returns the timeout, negative for none.
  std::chrono::nanoseconds watch(std::vector<pollfd>& watched) const {
    const TimePoint now = base::monotonic_now();
    TimePoint next = TimePoint::max();
    const auto add = [&](const FileDescriptor& socket, const Flow& in, const Flow& out) {
      const bool writes = !faults.stalled && out.has_due(now);
      const bool reads = !faults.stalled && in.wants_bytes();
      if (!faults.stalled && !writes && !out.queue.empty()) {
        next = std::min(next, out.due());
      }
      const auto events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0));
      // Sockets without interest are skipped, or their hang-up would be reported forever.
      watched.push_back({events == 0 ? -1 : socket.number(), events, 0});
    };
    watched.assign({{wake_.number(), POLLIN, 0}, {listener_.number(), POLLIN, 0}});
    for (const Link& link : links) {
      add(link.client, link.requests, link.replies);
      add(link.server, link.replies, link.requests);
    }
    return next == TimePoint::max() ? std::chrono::nanoseconds{-1}
                                    : std::max(next - now, TimePoint::duration::zero());
  }

  void serve(Link& link, bool client_ready, bool server_ready, TimePoint now) {
    if (faults.stalled) {
      return;
    }
    if (client_ready && link.requests.wants_bytes()) {
      receive(link, link.client, link.requests, now + faults.request_delay);
    }
    if (server_ready && !link.is_closed() && link.replies.wants_bytes()) {
      receive(link, link.server, link.replies, now + faults.reply_delay);
    }
    forward(link, link.server, link.requests, counts.request_bytes, now);
    forward(link, link.client, link.replies, counts.reply_bytes, now);
    if (link.requests.end == Flow::End::PassedOn && link.replies.end == Flow::End::PassedOn) {
      link.close();
    }
  }

  void receive(Link& link, const FileDescriptor& from, Flow& flow, TimePoint due) {
    std::array<char, 65'536> buffer;
    const ssize_t size = ::recv(from.number(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0) {
      if (errno != EAGAIN && errno != EINTR) {
        link.reset();
      }
      return;
    }
    if (size == 0) {
      flow.end = Flow::End::Seen;
      return;
    }
    std::string bytes(buffer.data(), static_cast<std::size_t>(size));
    if (faults.corrupt && &flow == &link.replies) {
      for (char& byte : bytes) {
        if (++corrupt_seen % *faults.corrupt == 0) {
          byte = static_cast<char>(~byte);
        }
      }
    }
    flow.queued += bytes.size();
    flow.queue.push_back({std::move(bytes), due});
  }

  void forward(Link& link, const FileDescriptor& to, Flow& flow, std::uint64_t& count,
               TimePoint now) {
    const bool may_cut = &flow == &link.replies;
    while (!link.is_closed() && flow.has_due(now)) {
      std::string& bytes = flow.queue.front().bytes;
      std::size_t size = std::min(bytes.size(), faults.slice.value_or(bytes.size()));
      if (may_cut && faults.cut_after) {
        size = std::min<std::size_t>(size, *faults.cut_after);
      }
      const ssize_t sent =
          size == 0 ? 0 : ::send(to.number(), bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR) {
          link.reset();
        }
        return;
      }
      const auto done = static_cast<std::size_t>(sent);
      count += done;
      flow.queued -= done;
      bytes.erase(0, done);
      if (bytes.empty()) {
        flow.queue.pop_front();
      }
      if (faults.slice) {
        flow.gap_end = now + faults.gap;
      }
      if (may_cut && faults.cut_after && (*faults.cut_after -= done) == 0) {
        faults.cut_after.reset();
        link.close();
      }
    }
    if (!link.is_closed() && flow.queue.empty() && flow.end == Flow::End::Seen) {
      ::shutdown(to.number(), SHUT_WR);
      flow.end = Flow::End::PassedOn;
    }
  }

  void accept() {
    FileDescriptor client(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.is_open()) {
      return;
    }
    ++counts.accepted;
    const int on = 1;
    ::setsockopt(client.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    try {
      FileDescriptor server = connect_to(server_port_);
      links.push_back({std::move(client), std::move(server)});
    } catch (const std::system_error&) {
      // The server is down: the client is closed.
    }
  }

  void run_tasks() {
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.number(), &ignored);
    std::vector<std::packaged_task<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (std::packaged_task<void()>& task : tasks) {
      task();
    }
    std::erase_if(links, [](const Link& link) { return link.is_closed(); });
  }

  const std::uint16_t server_port_;
  ReservedPort port_;
  FileDescriptor listener_ = listen_on(port_);
  FileDescriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  bool stopping_ = false;

  std::mutex mutex_;
  std::vector<std::packaged_task<void()>> tasks_;  // guarded by mutex_

  std::thread thread_;
};

FaultProxy::FaultProxy(std::uint16_t server_port) : loop_(std::make_unique<Loop>(server_port)) {}

FaultProxy::~FaultProxy() = default;

std::uint16_t FaultProxy::port() const noexcept { return loop_->port(); }

std::string FaultProxy::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

void FaultProxy::pass() {
  loop_->run([this] {
    loop_->faults = {};
    loop_->listen();
  });
}

void FaultProxy::delay(Direction direction, std::chrono::microseconds time) {
  loop_->run([&] {
    Faults& faults = loop_->faults;
    (direction == Direction::Requests ? faults.request_delay : faults.reply_delay) = time;
  });
}

void FaultProxy::slice(std::size_t bytes, std::chrono::microseconds gap) {
  loop_->run([&] {
    loop_->faults.slice = std::max<std::size_t>(bytes, 1);
    loop_->faults.gap = gap;
  });
}

void FaultProxy::cut_after(std::uint64_t reply_bytes) {
  loop_->run([&] { loop_->faults.cut_after = reply_bytes; });
}

void FaultProxy::stall() {
  loop_->run([this] { loop_->faults.stalled = true; });
}

void FaultProxy::close_port() {
  loop_->run([this] { loop_->close_port(); });
}

void FaultProxy::corrupt(std::uint64_t nth) {
  loop_->run([&] {
    loop_->faults.corrupt = nth;
    loop_->corrupt_seen = 0;
  });
}

void FaultProxy::reset() {
  loop_->run([this] { std::ranges::for_each(loop_->links, &Link::reset); });
}

void FaultProxy::close() {
  loop_->run([this] { std::ranges::for_each(loop_->links, &Link::close); });
}

FaultProxy::Counts FaultProxy::counts() const {
  Counts counts;
  loop_->run([&] {
    counts = loop_->counts;
    counts.open = loop_->links.size();
  });
  return counts;
}

}  // namespace penstock::servers
