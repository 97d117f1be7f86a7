#include "replay/run/reorder_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace penstock::replay {
namespace {

using Length = std::uint32_t;

void append_text(std::string& bytes, std::string_view text) {
  const auto length = static_cast<Length>(text.size());
  std::array<char, sizeof length> prefix{};
  std::memcpy(prefix.data(), &length, sizeof length);
  bytes.append(prefix.data(), prefix.size()).append(text);
}

std::string_view text_at(const std::string& bytes, std::size_t& at) {
  Length length = 0;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  at += sizeof length;
  const std::string_view text(bytes.data() + at, length);
  at += length;
  return text;
}

}  // namespace

void ReorderBuffer::push(const RequestOrder& order, std::span<const rules::Attribute> attributes) {
  const auto second = std::chrono::floor<std::chrono::seconds>(order.time);
  if (last_ == nullptr || second != last_second_) {
    last_ = &seconds_[second];
    last_second_ = second;
  }
  Batch& batch = *last_;
  const std::size_t before = batch.bytes_.size();
  if (!batch.entries_.empty() && order < batch.entries_.back().order) batch.is_sorted_ = false;
  batch.entries_.push_back(
      {.order = order, .begin = before, .count = static_cast<std::uint32_t>(attributes.size())});
  for (const rules::Attribute& attribute : attributes) {
    append_text(batch.bytes_, attribute.name);
    append_text(batch.bytes_, attribute.value);
  }
  bytes_ += batch.bytes_.size() - before + sizeof(Batch::Entry);
}

bool ReorderBuffer::take(Instant until, Batch& batch) {
  const auto first = seconds_.begin();
  if (first == seconds_.end() || first->first + std::chrono::seconds{1} > until) return false;
  if (last_ == &first->second) last_ = nullptr;
  batch = std::move(first->second);
  seconds_.erase(first);
  bytes_ -= batch.bytes_.size() + batch.entries_.size() * sizeof(Batch::Entry);
  if (!batch.is_sorted_) {
    std::sort(batch.entries_.begin(), batch.entries_.end(),
              [](const Batch::Entry& a, const Batch::Entry& b) { return a.order < b.order; });
  }
  return true;
}

void ReorderBuffer::Batch::attributes(std::size_t index,
                                      std::vector<rules::Attribute>& into) const {
  const Entry& entry = entries_[index];
  std::size_t at = entry.begin;
  for (std::uint32_t i = 0; i < entry.count; ++i) {
    const std::string_view name = text_at(bytes_, at);
    const std::string_view value = text_at(bytes_, at);
    into.push_back({.name = name, .value = value});
  }
}

}  // namespace penstock::replay
