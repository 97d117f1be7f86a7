#include "redis_store/batch/bucket_scripts.hpp"

namespace penstock::redis_store {

bool is_for_bucket_scripts(const Quota& quota, Cost cost) {
  return quota.is_bucket() && cost.units > 0 && cost.units <= quota.capacity();
}

void write_bucket(PackedWriter& writer, const Quota& quota, Cost cost) {
  const ExactSpan need = quota.time_for(cost.units);
  writer.number(quota.rate_units(), 4)
      .number(static_cast<std::uint64_t>(quota.fill_time().whole), 7)
      .number(quota.fill_time().part, 4)
      .number(static_cast<std::uint64_t>(need.whole), 7)
      .number(need.part, 4);
}

std::optional<KeyReplay> bucket_replay(const resp::Value& state, const Quota& quota,
                                       const StateHeader& header) {
  if (!state.is(resp::Value::Type::String)) return KeyReplay{};
  const std::size_t size = quota.algorithm() == Algorithm::Gcra ? 32 : 39;
  if (state.text.size() != size || !state.text.starts_with(view(header))) return std::nullopt;
  std::optional<KeyContent> content = decode(state.text, quota, header);
  if (!content) return std::nullopt;
  return KeyReplay(*std::move(content));
}

}  // namespace penstock::redis_store
