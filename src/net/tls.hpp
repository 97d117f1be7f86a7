#pragma once

#include "net/address.hpp"
#include "penstock/result.hpp"

#include <boost/asio/ssl/context.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace penstock::net {

// The secret from which the contexts of one listener derive the keys of session tickets, so that a
// client can resume its session on another worker. Other listeners have other secrets. The keys
// depend on the certificate and the client CA: a new one ends all sessions.
class TicketSecret {
 public:
  // Null when there is no randomness; then each context has keys of its own.
  [[nodiscard]] static std::shared_ptr<const TicketSecret> make();

  // False, and nothing changes, when OpenSSL fails. REQUIRES: the context has its certificate.
  bool set_keys(ssl_ctx_st* context, const TlsFiles& files) const;

 private:
  std::array<unsigned char, 32> bytes_{};
};

// The TLS context of a server: TLS 1.2 or later, cipher suites with forward secrecy and
// authenticated encryption, and with a client_ca only clients that present a certificate of it.
// ALPN selects the first of our protocols that the client offers; a client that offers only others
// is rejected, one without ALPN is accepted. A file that cannot be used is Misconfigured, with its
// name.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const TlsFiles& files, std::span<const std::string> protocols,
    const TicketSecret* tickets = nullptr);

// The protocol that ALPN selected; empty without one.
[[nodiscard]] std::string_view negotiated_protocol(const ssl_st* connection);

}  // namespace penstock::net
