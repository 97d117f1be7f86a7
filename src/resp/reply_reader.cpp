#include "resp/reply_reader.hpp"

#include <hiredis/read.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace penstock::resp {
namespace {

// An array is given this much room before its elements arrive, whatever it claims to hold.
constexpr std::size_t kTrustedElements = 4096;

struct FreeReader {
  void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
};

}  // namespace

// hiredis calls the functions below while it parses, and hands their results back as parents of the
// next ones. Values are built where they belong: the reply in `root`, the others at the end of
// their parent's elements. The parent does not grow while one of its elements is being read, so the
// pointers that hiredis keeps stay good for as long as it uses them.
struct ReplyReader::State {
  explicit State(ReplyLimits wanted) : limits(wanted), reader(make_reader()) {
    if (reader != nullptr) reader->privdata = this;
  }

  static redisReader* make_reader();
  static void* create_string(const redisReadTask* task, char* bytes, std::size_t size);
  static void* create_array(const redisReadTask* task, int size);
  static void* create_integer(const redisReadTask* task, long long number);
  static void* create_nil(const redisReadTask* task);

  static State& of(const redisReadTask* task) { return *static_cast<State*>(task->privdata); }
  static Value* place(const redisReadTask* task, Value::Type type);
  // The create functions return it to stop hiredis.
  void* refuse(std::string why) {
    failure = std::move(why);
    return nullptr;
  }
  // Why the buffered bytes can never become a valid reply.
  [[nodiscard]] std::optional<std::string> overlong() const;
  [[nodiscard]] Error error() const;

  ReplyLimits limits;
  std::unique_ptr<redisReader, FreeReader> reader;
  Value root{};
  std::size_t elements = 0;
  std::string failure{};
};

redisReader* ReplyReader::State::make_reader() {
  static redisReplyObjectFunctions functions{
      .createString = create_string,
      .createArray = create_array,
      .createInteger = create_integer,
      .createNil = create_nil,
      .freeObject = [](void*) {},  // the values own each other, and State the first
  };
  return redisReaderCreateWithFunctions(&functions);
}

Value* ReplyReader::State::place(const redisReadTask* task, Value::Type type) {
  Value* value = nullptr;
  if (task->parent == nullptr) {
    State& state = of(task);
    state.root = Value{};
    state.elements = 0;
    value = &state.root;
  } else {
    value = &static_cast<Value*>(task->parent->obj)->elements.emplace_back();
  }
  value->type = type;
  return value;
}

void* ReplyReader::State::create_string(const redisReadTask* task, char* bytes, std::size_t size) {
  State& state = of(task);
  if (task->type == REDIS_REPLY_STRING) {
    if (size > state.limits.bulk) return state.refuse("string too long");
    // hiredis has seen that two more bytes are there, but not which.
    if (bytes[size] != '\r' || bytes[size + 1] != '\n') return state.refuse("string without end");
  } else if (size > state.limits.line) {
    return state.refuse("line too long");
  }
  Value* const value = place(task, task->type == REDIS_REPLY_STRING   ? Value::Type::String
                                   : task->type == REDIS_REPLY_STATUS ? Value::Type::Status
                                                                      : Value::Type::Error);
  value->text.assign(bytes, size);
  return value;
}

void* ReplyReader::State::create_array(const redisReadTask* task, int size) {
  State& state = of(task);
  Value* const value = place(task, Value::Type::Array);
  const auto count = static_cast<std::size_t>(size);
  if (count > state.limits.elements - state.elements) return state.refuse("too many elements");
  state.elements += count;
  value->elements.reserve(std::min(count, kTrustedElements));
  return value;
}

void* ReplyReader::State::create_integer(const redisReadTask* task, long long number) {
  Value* const value = place(task, Value::Type::Integer);
  value->integer = number;
  return value;
}

void* ReplyReader::State::create_nil(const redisReadTask* task) {
  return place(task, Value::Type::Nil);
}

std::optional<std::string> ReplyReader::State::overlong() const {
  if (reader->ridx < 0) return std::nullopt;
  const std::size_t waiting = reader->len - reader->pos;
  const char* const begin = reader->buf + reader->pos;
  if (reader->rstack[reader->ridx].type != REDIS_REPLY_STRING) {
    // the end of the line has perhaps begun
    const std::size_t ends = waiting > 0 && begin[waiting - 1] == '\r' ? 1 : 0;
    return waiting - ends > limits.line ? std::optional<std::string>("line too long")
                                        : std::nullopt;
  }
  std::size_t size = 0;
  const auto [end, failed] = std::from_chars(begin, begin + waiting, size);
  const bool too_long = failed == std::errc::result_out_of_range || size > limits.bulk;
  if (too_long || waiting > limits.bulk + limits.line) return "string too long";
  return std::nullopt;
}

Error ReplyReader::State::error() const {
  if (!failure.empty()) return {ErrorCode::Protocol, "unreadable reply: " + failure};
  if (reader == nullptr) return {ErrorCode::Protocol, "no memory for a reply reader"};
  return {ErrorCode::Protocol, std::string("unreadable reply: ") + reader->errstr};
}

ReplyReader::ReplyReader(ReplyLimits limits) : state_(std::make_unique<State>(limits)) {}
ReplyReader::~ReplyReader() = default;
ReplyReader::ReplyReader(ReplyReader&&) noexcept = default;
ReplyReader& ReplyReader::operator=(ReplyReader&&) noexcept = default;

void ReplyReader::feed(std::string_view bytes) {
  if (state_->reader == nullptr || bytes.empty()) return;
  if (redisReaderFeed(state_->reader.get(), bytes.data(), bytes.size()) != REDIS_OK &&
      state_->failure.empty() && state_->reader->err == 0) {
    state_->failure = "out of memory";
  }
}

Result<std::optional<Value>> ReplyReader::next() {
  if (state_->reader == nullptr || !state_->failure.empty()) return state_->error();
  void* reply = nullptr;
  if (redisReaderGetReply(state_->reader.get(), &reply) != REDIS_OK) return state_->error();
  if (reply != nullptr) return std::optional<Value>(std::move(state_->root));
  if (std::optional<std::string> why = state_->overlong()) {
    state_->failure = *std::move(why);
    return state_->error();
  }
  return std::optional<Value>();
}

}  // namespace penstock::resp
