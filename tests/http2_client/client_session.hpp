#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::http2_client {

using Fields = std::vector<std::pair<std::string, std::string>>;

// The response of a stream.
struct Answer {
  Fields head{};
  Fields trailers{};
  std::string body{};
  bool is_closed = false;
  std::uint32_t error = 0;  // error code of a reset

  [[nodiscard]] std::string field(std::string_view name) const {
    for (const Fields* fields : {&trailers, &head}) {
      for (const auto& [key, value] : *fields) {
        if (key == name) return value;
      }
    }
    return "";
  }
};

struct Goodbye {
  std::int32_t last_stream = 0;
  std::uint32_t error = 0;
};

struct ClientOptions {
  std::uint32_t stream_window = 65'535;
  bool answers_pings = true;
};

// An HTTP/2 client in memory.
class ClientSession {
 public:
  explicit ClientSession(const ClientOptions& options = {}) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    check(nghttp2_session_callbacks_new(&callbacks));
    check(nghttp2_option_new(&option));
    nghttp2_option_set_no_auto_ping_ack(option, options.answers_pings ? 0 : 1);
    nghttp2_option_set_no_http_messaging(option, 1);  // allows malformed messages
    set(callbacks);
    check(nghttp2_session_client_new2(&session_, callbacks, this, option));
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    const nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                        options.stream_window};
    check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1));
  }
  ~ClientSession() { nghttp2_session_del(session_); }
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  // A request with more body to follow.
  std::int32_t open(const Fields& fields) {
    std::vector<nghttp2_nv> list = name_values(fields);
    const nghttp2_data_provider provider{.source = {.ptr = nullptr}, .read_callback = read};
    const std::int32_t stream =
        nghttp2_submit_request(session_, nullptr, list.data(), list.size(), &provider, nullptr);
    check(stream);
    bodies_[stream] = {};
    return stream;
  }
  std::int32_t request(const Fields& fields, std::string_view body) {
    const std::int32_t stream = open(fields);
    send(stream, body, true);
    return stream;
  }
  std::int32_t request_without_body(const Fields& fields) {
    std::vector<nghttp2_nv> list = name_values(fields);
    return nghttp2_submit_request(session_, nullptr, list.data(), list.size(), nullptr, nullptr);
  }
  void send(std::int32_t stream, std::string_view bytes, bool is_last) {
    bodies_[stream].bytes += bytes;
    bodies_[stream].ends = is_last;
    static_cast<void>(nghttp2_session_resume_data(session_, stream));  // if it is deferred
  }
  void reset(std::int32_t stream, std::uint32_t error = NGHTTP2_CANCEL) {
    check(nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, error));
  }
  void ping() { check(nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr)); }
  void answer_ping(const std::uint8_t* payload) {
    check(nghttp2_submit_ping(session_, NGHTTP2_FLAG_ACK, payload));
  }

  [[nodiscard]] std::string take_output() {
    std::string out;
    const std::uint8_t* bytes = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &bytes)) > 0;) {
      out.append(static_cast<const char*>(static_cast<const void*>(bytes)),
                 static_cast<std::size_t>(size));
    }
    return out;
  }
  void receive(std::string_view bytes) {
    const auto* data = static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data()));
    if (nghttp2_session_mem_recv(session_, data, bytes.size()) < 0) {
      throw std::runtime_error("the server broke the protocol");
    }
  }

  [[nodiscard]] const Answer& answer(std::int32_t stream) { return answers[stream]; }

  std::map<std::int32_t, Answer> answers{};
  std::vector<Goodbye> goodbyes{};
  std::size_t pongs = 0;
  std::string last_ping{};

 private:
  struct Body {
    std::string bytes{};
    bool ends = false;
  };

  static void check(int result) {
    if (result < 0) throw std::runtime_error(nghttp2_strerror(result));
  }
  static std::vector<nghttp2_nv> name_values(const Fields& fields) {
    std::vector<nghttp2_nv> list;
    for (const auto& [name, value] : fields) {
      const auto bytes = [](const std::string& text) {
        return static_cast<std::uint8_t*>(static_cast<void*>(const_cast<char*>(text.data())));
      };
      list.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    return list;
  }
  static ssize_t read(nghttp2_session*, std::int32_t stream, std::uint8_t* buffer, std::size_t room,
                      std::uint32_t* flags, nghttp2_data_source*, void* user) {
    Body& body = static_cast<ClientSession*>(user)->bodies_[stream];
    if (body.bytes.empty() && !body.ends) return NGHTTP2_ERR_DEFERRED;
    const std::size_t size = std::min(room, body.bytes.size());
    std::copy_n(body.bytes.begin(), size, buffer);
    body.bytes.erase(0, size);
    if (body.bytes.empty() && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (size == 0 && !body.ends) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(size);
  }
  static void set(nghttp2_session_callbacks* callbacks) {
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
          Answer& answer = static_cast<ClientSession*>(user)->answers[frame->hd.stream_id];
          const bool is_trailer = frame->headers.cat == NGHTTP2_HCAT_HEADERS;
          (is_trailer ? answer.trailers : answer.head)
              .emplace_back(std::string(name, name + name_size),
                            std::string(value, value + value_size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t stream,
                      const std::uint8_t* bytes, std::size_t size, void* user) {
          static_cast<ClientSession*>(user)->answers[stream].body.append(bytes, bytes + size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_stream_close_callback(
        callbacks, [](nghttp2_session*, std::int32_t stream, std::uint32_t error, void* user) {
          Answer& answer = static_cast<ClientSession*>(user)->answers[stream];
          answer.is_closed = true;
          answer.error = error;
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          auto& self = *static_cast<ClientSession*>(user);
          if (frame->hd.type == NGHTTP2_GOAWAY) {
            self.goodbyes.push_back({frame->goaway.last_stream_id, frame->goaway.error_code});
          }
          if (frame->hd.type == NGHTTP2_PING) {
            if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) ++self.pongs;
            self.last_ping.assign(std::begin(frame->ping.opaque_data),
                                  std::end(frame->ping.opaque_data));
          }
          return 0;
        });
  }

  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Body> bodies_;
};

}  // namespace penstock::http2_client
