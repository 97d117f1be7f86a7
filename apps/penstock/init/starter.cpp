#include "apps/penstock/init/starter.hpp"

#include "apps/penstock/init/starter_texts.hpp"

namespace penstock::app {

const std::array<Starter, 4>& starters() noexcept {
  static constexpr std::array<Starter, 4> kStarters{
      Starter{.kind = "api",
              .text = starter::kApi,
              .request = "curl -si http://127.0.0.1:8080/v1/forward-auth -H 'X-Api-Key: k1'"},
      Starter{.kind = "login",
              .text = starter::kLogin,
              .request = "curl -si http://127.0.0.1:8080/v1/check -d "
                         "'{\"domain\":\"login\",\"attributes\":{\"account\":\"alice\"}}'"},
      Starter{.kind = "llm",
              .text = starter::kLlm,
              .request = "curl -s http://127.0.0.1:8080/v1/reserve -d "
                         "'{\"domain\":\"tokens\",\"attributes\":{\"user\":\"7\"},\"cost\":4000}'"},
      Starter{.kind = "gateway",
              .text = starter::kGateway,
              .request = "curl -si http://127.0.0.1:8000/"}};
  return kStarters;
}

const Starter* find_starter(std::string_view kind) noexcept {
  for (const Starter& starter : starters()) {
    if (starter.kind == kind) return &starter;
  }
  return nullptr;
}

}  // namespace penstock::app
