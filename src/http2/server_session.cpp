#include "http2/server_session.hpp"

#include "base/text.hpp"
#include "http2/block_pool.hpp"
#include "http2/flood_budget.hpp"
#include "http2/header_block.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace penstock::http2 {
namespace {

// Bytes of an output buffer that are kept for the next turn, and while there are streams.
constexpr std::size_t kKept = std::size_t{16} << 10U;
constexpr std::size_t kKeptInUse = std::size_t{160} << 10U;
// CONTINUATION frames of one header block; header blocks of honest clients fit into one frame.
constexpr std::size_t kMaxContinuations = 8;
// Payload of the PING after a GOAWAY, to recognise its acknowledgement.
constexpr std::array<std::uint8_t, 8> kGoodbye{'g', 'o', 'o', 'd', 'b', 'y', 'e', '.'};

// Pings that may come too early, as gRPC servers allow it.
constexpr unsigned kMaxPingStrikes = 2;
constexpr std::string_view kTooManyPings = "too_many_pings";

// A stream that is open.
struct Open {
  StreamId id = 0;  // 0: it is not any more
  StreamEvents* events = nullptr;
  std::size_t unconsumed = 0;  // with FlowControl::Manual
  bool is_complete = false;    // the request
  bool is_answered = false;    // all of the answer is sent, and the rest of the request discarded
};

// A stream that is answered while its client is still sending.
struct Lingering {
  StreamId id = 0;
  base::Deadline until = base::Deadline::max();  // not known before the time is
};

// Whether the client made us send a reset for this reason. A flood of them is Rapid Reset by
// another name (CVE-2025-8671).
bool is_clients_fault(std::uint32_t error) noexcept {
  return error != NGHTTP2_NO_ERROR && error != NGHTTP2_INTERNAL_ERROR && error != NGHTTP2_CANCEL;
}

const std::uint8_t* bytes_of(std::string_view text) {
  return static_cast<const std::uint8_t*>(static_cast<const void*>(text.data()));
}

bool has_flag(const nghttp2_frame_hd& frame, int flag) { return (frame.flags & flag) != 0; }

}  // namespace

struct ServerSession::Impl {
  Impl(RequestEvents& events, const SessionOptions& given)
      : requests(events),
        options(given),
        block(given.max_header_bytes),
        budget(given.flood_burst, given.flood_rate) {}
  ~Impl() {
    block.clear();  // its texts are the session's
    nghttp2_session_del(session);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] bool make_session();
  void submit_settings();
  // The library fails for want of memory only: the connection cannot go on.
  void note(int result) noexcept { broken = broken || result < 0; }

  // Most events come in a row for one stream, which need not be looked up again.
  [[nodiscard]] Open* find(StreamId stream) {
    if (recent == nullptr || recent->id != stream) {
      recent = static_cast<Open*>(nghttp2_session_get_stream_user_data(session, stream));
    }
    return recent != nullptr && recent->id == stream ? recent : nullptr;
  }
  [[nodiscard]] int open(StreamId stream);
  void close(Open& stream, ErrorCode why);
  void on_headers(const nghttp2_frame& frame);
  void on_ping(const nghttp2_ping& frame);
  void say_last_goodbye();
  void answered_early(Open& stream);
  void collect_output();
  void submit_trailers(StreamId stream, std::span<const Field> trailers);

  static nghttp2_session_callbacks* callbacks();
  static void set_frame_callbacks(nghttp2_session_callbacks* out);
  static ssize_t read_body(nghttp2_session* session, std::int32_t stream, std::uint8_t* buffer,
                           std::size_t room, std::uint32_t* flags, nghttp2_data_source* source,
                           void* user);

  RequestEvents& requests;
  SessionOptions options;
  BlockPool memory{};  // of the session and of the texts of its header fields
  nghttp2_session* session = nullptr;
  HeaderBlock block;
  FloodBudget budget;
  std::vector<nghttp2_nv> fields{};
  std::vector<std::unique_ptr<Open>> records{};  // as many as there were streams at a time
  std::vector<Open*> spare{};                    // of them, not used by a stream
  Open* recent = nullptr;                        // found last
  std::string sending{};
  std::deque<Lingering> lingering{};  // in the order of their times
  std::size_t open_streams = 0;
  FrameScanner scanner{};
  FrameCosts costs{};
  base::Deadline now{};
  base::Deadline last_ping{};
  unsigned ping_strikes = 0;    // pings that came too early since the last request
  StreamId head_of = 0;         // the stream of the incomplete header block
  std::uint64_t accepted = 0;   // requests
  bool established = false;     // the SETTINGS of the client have come
  bool too_many_pings = false;  // GOAWAY is due
  bool too_much = false;        // nuisance
  bool leaving = false;         // a GOAWAY was sent
  bool heard_out = false;       // the client acknowledged it; the final GOAWAY is due
  bool said_last = false;       // the final GOAWAY was sent
  bool broken = false;
};

// Shared by all sessions, and never changed.
nghttp2_session_callbacks* ServerSession::Impl::callbacks() {
  nghttp2_session_callbacks* out = nullptr;
  if (nghttp2_session_callbacks_new(&out) != 0) return nullptr;
  set_frame_callbacks(out);
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Impl& self = *static_cast<Impl*>(user);
        self.block.clear();
        self.costs.on_headers_used();
        self.head_of = frame->hd.stream_id;
        if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
        return self.open(frame->hd.stream_id);
      });
  nghttp2_session_callbacks_set_on_header_callback2(
      out, [](nghttp2_session*, const nghttp2_frame*, nghttp2_rcbuf* name, nghttp2_rcbuf* value,
              std::uint8_t, void* user) {
        static_cast<Impl*>(user)->block.add(name, value);
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      out, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
              std::size_t size, void* user) {
        Impl& self = *static_cast<Impl*>(user);
        Open* const open = self.find(stream);
        const bool manual = self.options.flow_control == FlowControl::Manual;
        if (open != nullptr && open->is_answered) {
          if (manual) self.note(nghttp2_session_consume_connection(self.session, size));
          return 0;
        }
        if (open == nullptr || open->events == nullptr) {
          if (manual) self.note(nghttp2_session_consume(self.session, stream, size));
          return 0;
        }
        if (manual) open->unconsumed += size;
        open->events->on_data({static_cast<const char*>(static_cast<const void*>(bytes)), size});
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      out, [](nghttp2_session*, std::int32_t stream, std::uint32_t why, void* user) {
        Impl& self = *static_cast<Impl*>(user);
        Open* const open = self.find(stream);
        if (open != nullptr) self.close(*open, static_cast<ErrorCode>(why));
        return 0;
      });
  return out;
}

void ServerSession::Impl::set_frame_callbacks(nghttp2_session_callbacks* out) {
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Impl& self = *static_cast<Impl*>(user);
        if (frame->hd.type == NGHTTP2_HEADERS) self.on_headers(*frame);
        if (frame->hd.type == NGHTTP2_PING) self.on_ping(frame->ping);
        if (frame->hd.type == NGHTTP2_SETTINGS && !has_flag(frame->hd, NGHTTP2_FLAG_ACK)) {
          self.established = true;
        }
        const bool has_stream_end =
            frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        if (!has_stream_end || !has_flag(frame->hd, NGHTTP2_FLAG_END_STREAM)) return 0;
        Open* const open = self.find(frame->hd.stream_id);
        if (open == nullptr) return 0;
        open->is_complete = true;
        if (open->events != nullptr) open->events->on_end();
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      out, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Impl& self = *static_cast<Impl*>(user);
        if (frame->hd.type == NGHTTP2_RST_STREAM &&
            is_clients_fault(frame->rst_stream.error_code) && !self.budget.spend()) {
          self.too_much = true;
        }
        if (frame->hd.type == NGHTTP2_DATA) self.costs.on_data_sent();
        const bool has_stream_end =
            frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        if (!has_stream_end || !has_flag(frame->hd, NGHTTP2_FLAG_END_STREAM)) return 0;
        Open* const open = self.find(frame->hd.stream_id);
        if (open != nullptr && !open->is_complete) self.answered_early(*open);
        return 0;
      });
}

bool ServerSession::Impl::make_session() {
  static nghttp2_session_callbacks* const shared = callbacks();
  nghttp2_option* option = nullptr;
  if (shared == nullptr || nghttp2_option_new(&option) != 0) return false;
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_max_continuations(option, kMaxContinuations);
  // The budget counts resets too, and sends ENHANCE_YOUR_CALM; the library sends INTERNAL_ERROR.
  nghttp2_option_set_stream_reset_rate_limit(option, 2 * std::uint64_t{options.flood_burst},
                                             2 * std::uint64_t{options.flood_rate});
  if (options.flow_control == FlowControl::Manual) {
    nghttp2_option_set_no_auto_window_update(option, 1);
  }
  const int made = nghttp2_session_server_new3(&session, shared, this, option, memory.functions());
  nghttp2_option_del(option);
  return made == 0;
}

void ServerSession::Impl::submit_settings() {
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_streams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                             static_cast<std::uint32_t>(options.max_header_bytes)},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  note(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()));
  note(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0,
                                             static_cast<std::int32_t>(options.connection_window)));
}

int ServerSession::Impl::open(StreamId stream) {
  if (too_much) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // the connection is about to end
  if (spare.empty()) spare.push_back(records.emplace_back(std::make_unique<Open>()).get());
  Open& record = *spare.back();
  record = {.id = stream};
  if (nghttp2_session_set_stream_user_data(session, stream, &record) != 0) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  spare.pop_back();
  ++open_streams;
  costs.on_stream_opened();
  return 0;
}

void ServerSession::Impl::close(Open& stream, ErrorCode why) {
  --open_streams;
  if (head_of == stream.id) head_of = 0;  // it ended before its header block did
  if (stream.unconsumed > 0) {            // the window of the connection outlives the stream
    note(nghttp2_session_consume_connection(session, stream.unconsumed));
  }
  stream.id = 0;
  spare.push_back(&stream);
  if (stream.events != nullptr) stream.events->on_closed(why);
}

void ServerSession::Impl::answered_early(Open& stream) {
  if (options.linger == std::chrono::steady_clock::duration::zero()) {
    note(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_NO_ERROR));
    return;
  }
  stream.is_answered = true;
  lingering.push_back({.id = stream.id});
  const std::size_t size = std::exchange(stream.unconsumed, 0);
  if (size > 0) note(nghttp2_session_consume_connection(session, size));
}

void ServerSession::Impl::on_headers(const nghttp2_frame& frame) {
  head_of = 0;
  Open* const open = find(frame.hd.stream_id);
  if (open == nullptr) return;
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    ++accepted;
    ping_strikes = 0;
    RequestHead head = block.head();
    head.ends_stream = has_flag(frame.hd, NGHTTP2_FLAG_END_STREAM);
    open->events = requests.on_request(frame.hd.stream_id, head);
  } else if (open->events != nullptr) {
    open->events->on_trailers(block.fields());
  }
}

void ServerSession::Impl::on_ping(const nghttp2_ping& frame) {
  if (!has_flag(frame.hd, NGHTTP2_FLAG_ACK)) {
    const bool is_early = now - last_ping < options.min_ping_interval;
    last_ping = now;
    if (open_streams > 0 || !is_early) return;
    if (++ping_strikes > kMaxPingStrikes) too_many_pings = true;
    return;
  }
  if (!std::equal(kGoodbye.begin(), kGoodbye.end(), std::begin(frame.opaque_data))) return;
  heard_out = true;
}

// The final GOAWAY names the last request that is processed. Requests behind the client's
// acknowledgement of the first are processed too, so it is sent when all input has been read.
void ServerSession::Impl::say_last_goodbye() {
  if (!std::exchange(heard_out, false) || std::exchange(said_last, true)) return;
  note(nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                             nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR,
                             nullptr, 0));
}

void ServerSession::Impl::submit_trailers(StreamId stream, std::span<const Field> trailers) {
  set_name_values(fields, trailers);
  note(nghttp2_submit_trailer(session, stream, fields.data(), fields.size()));
}

ssize_t ServerSession::Impl::read_body(nghttp2_session* /*session*/, std::int32_t stream,
                                       std::uint8_t* buffer, std::size_t room, std::uint32_t* flags,
                                       nghttp2_data_source* source, void* user) {
  Impl& self = *static_cast<Impl*>(user);
  BodySource& body = *static_cast<BodySource*>(source->ptr);
  const BodySource::Portion portion =
      body.read({static_cast<char*>(static_cast<void*>(buffer)), room});
  switch (portion.after) {
    case BodySource::After::More: break;
    case BodySource::After::Deferred:
      if (portion.size == 0) return NGHTTP2_ERR_DEFERRED;
      break;  // the source reports it again for the next frame
    case BodySource::After::Failed: return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    case BodySource::After::End: {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      const std::span<const Field> trailers = body.trailers();
      if (trailers.empty()) break;
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      self.submit_trailers(stream, trailers);
      break;
    }
  }
  return static_cast<ssize_t>(portion.size);
}

ServerSession::ServerSession(RequestEvents& requests, const SessionOptions& options)
    : impl_(std::make_unique<Impl>(requests, options)) {
  if (impl_->make_session()) {
    impl_->submit_settings();
  } else {
    impl_->broken = true;
  }
}

ServerSession::~ServerSession() = default;

bool ServerSession::receive(std::string_view bytes, base::Deadline now) {
  Impl& impl = *impl_;
  if (impl.broken) return false;
  impl.now = now;
  impl.budget.refill(now);
  impl.scanner.scan(bytes, [&impl](const FrameHead& frame) {
    if (impl.costs.is_charged(frame) && !impl.budget.spend()) impl.too_much = true;
  });
  const ssize_t taken = nghttp2_session_mem_recv(impl.session, bytes_of(bytes), bytes.size());
  if (taken < 0) impl.broken = true;
  while (impl.costs.take_dropped_headers()) {
    if (!impl.budget.spend()) impl.too_much = true;
  }
  impl.say_last_goodbye();
  if (impl.too_many_pings && !std::exchange(impl.leaving, true)) {
    impl.note(nghttp2_submit_goaway(
        impl.session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(impl.session),
        NGHTTP2_ENHANCE_YOUR_CALM, bytes_of(kTooManyPings), kTooManyPings.size()));
  }
  if (impl.too_much) terminate(ErrorCode::EnhanceYourCalm);
  return !impl.broken;
}

void ServerSession::Impl::collect_output() {
  while (!broken && sending.size() < options.max_output) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session, &bytes);
    if (size <= 0) return note(static_cast<int>(size));
    sending.append(static_cast<const char*>(static_cast<const void*>(bytes)),
                   static_cast<std::size_t>(size));
  }
}

std::string_view ServerSession::take_output() {
  Impl& impl = *impl_;
  const std::size_t kept = impl.open_streams > 0 ? kKeptInUse : kKept;
  if (impl.sending.capacity() > kept) base::free_string(impl.sending);
  impl.sending.clear();
  impl.collect_output();
  if (impl.too_much) {  // resets were among it
    terminate(ErrorCode::EnhanceYourCalm);
    impl.collect_output();
  }
  return impl.sending;
}

bool ServerSession::has_output() const noexcept {
  return !impl_->broken && nghttp2_session_want_write(impl_->session) != 0;
}

bool ServerSession::is_finished() const noexcept {
  return impl_->broken || (nghttp2_session_want_read(impl_->session) == 0 &&
                           nghttp2_session_want_write(impl_->session) == 0);
}

std::size_t ServerSession::open_streams() const noexcept { return impl_->open_streams; }

bool ServerSession::is_established() const noexcept { return impl_->established; }

bool ServerSession::is_reading_head() const noexcept { return impl_->head_of != 0; }

std::uint64_t ServerSession::requests() const noexcept { return impl_->accepted; }

void ServerSession::respond(StreamId stream, std::span<const Field> head, BodySource* body) {
  Impl& impl = *impl_;
  if (impl.broken || impl.find(stream) == nullptr) return;
  set_name_values(impl.fields, head);
  const nghttp2_data_provider provider{.source = {.ptr = body}, .read_callback = Impl::read_body};
  impl.note(nghttp2_submit_response(impl.session, stream, impl.fields.data(), impl.fields.size(),
                                    body == nullptr ? nullptr : &provider));
}

void ServerSession::send_interim(StreamId stream, std::span<const Field> head) {
  Impl& impl = *impl_;
  if (impl.broken || impl.find(stream) == nullptr) return;
  set_name_values(impl.fields, head);
  impl.note(nghttp2_submit_headers(impl.session, NGHTTP2_FLAG_NONE, stream, nullptr,
                                   impl.fields.data(), impl.fields.size(), nullptr));
}

void ServerSession::resume(StreamId stream) {
  if (impl_->broken) return;
  // fails for a stream that is closed, or not deferred
  static_cast<void>(nghttp2_session_resume_data(impl_->session, stream));
}

void ServerSession::consume(StreamId stream, std::size_t bytes) {
  Impl& impl = *impl_;
  if (impl.broken || impl.options.flow_control != FlowControl::Manual) return;
  Open* const open = impl.find(stream);
  if (open == nullptr) return;  // then close() has done it
  const std::size_t size = std::min(bytes, open->unconsumed);
  open->unconsumed -= size;
  impl.note(nghttp2_session_consume(impl.session, stream, size));
}

void ServerSession::reset(StreamId stream, ErrorCode why) {
  Impl& impl = *impl_;
  if (impl.broken || impl.find(stream) == nullptr) return;
  impl.note(nghttp2_submit_rst_stream(impl.session, NGHTTP2_FLAG_NONE, stream,
                                      static_cast<std::uint32_t>(why)));
}

base::Deadline ServerSession::end_lingering(base::Deadline now) {
  Impl& impl = *impl_;
  std::deque<Lingering>& lingering = impl.lingering;
  for (std::size_t i = lingering.size(); i > 0; --i) {
    if (lingering[i - 1].until != base::Deadline::max()) break;
    lingering[i - 1].until = now + impl.options.linger;
  }
  while (!lingering.empty() && !impl.broken) {
    const Lingering first = lingering.front();
    const Open* const open = impl.find(first.id);
    if (open != nullptr && !open->is_complete) {
      if (first.until > now) return first.until;
      reset(first.id, ErrorCode::NoError);
    }
    lingering.pop_front();
  }
  return base::Deadline::max();
}

void ServerSession::ping() {
  if (!impl_->broken) impl_->note(nghttp2_submit_ping(impl_->session, 0, nullptr));
}

void ServerSession::begin_shutdown() {
  Impl& impl = *impl_;
  if (impl.broken || std::exchange(impl.leaving, true)) return;
  impl.note(nghttp2_submit_shutdown_notice(impl.session));
  impl.note(nghttp2_submit_ping(impl.session, NGHTTP2_FLAG_NONE, kGoodbye.data()));
}

void ServerSession::end_shutdown() {
  Impl& impl = *impl_;
  if (impl.broken || !impl.leaving || impl.said_last) return;
  impl.heard_out = true;
  impl.say_last_goodbye();
}

void ServerSession::terminate(ErrorCode why) {
  if (impl_->broken) return;
  impl_->leaving = true;
  impl_->note(nghttp2_session_terminate_session(impl_->session, static_cast<std::uint32_t>(why)));
}

}  // namespace penstock::http2
