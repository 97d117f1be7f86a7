#include "net/tls.hpp"

#include <boost/asio/ssl/verify_mode.hpp>
#include <boost/system/error_code.hpp>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::net {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// For TLS 1.2: forward secrecy and authenticated encryption, as in all suites of TLS 1.3.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

Error tls_error(const std::string& what, const error_code& why) {
  return {ErrorCode::Misconfigured, "tls: " + what + ": " + why.message()};
}

const unsigned char* unsigned_bytes(std::string_view text) {
  return static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
}

// The ALPN protocol list, each name after its length; freed with the SSL_CTX.
void free_protocols(void* /*context*/, void* protocols, CRYPTO_EX_DATA* /*all*/, int /*index*/,
                    long /*number*/, void* /*pointer*/) {
  const std::unique_ptr<std::string> owned(static_cast<std::string*>(protocols));
}

int protocols_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, &free_protocols);
  return index;
}

int select_alpn_protocol(SSL* connection, const unsigned char** chosen, unsigned char* chosen_size,
                         const unsigned char* offered, unsigned int offered_size,
                         void* /*context*/) {
  const auto* ours = static_cast<const std::string*>(
      SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), protocols_index()));
  unsigned char* found = nullptr;
  const int outcome =
      SSL_select_next_proto(&found, chosen_size, unsigned_bytes(*ours),
                            static_cast<unsigned>(ours->size()), offered, offered_size);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void set_alpn_protocols(SSL_CTX* context, std::span<const std::string> protocols) {
  auto listed = std::make_unique<std::string>();
  for (const std::string& protocol : protocols) {
    *listed += static_cast<char>(protocol.size());
    *listed += protocol;
  }
  if (listed->empty()) return;
  if (SSL_CTX_set_ex_data(context, protocols_index(), listed.get()) != 1) return;
  static_cast<void>(listed.release());  // the context's now
  SSL_CTX_set_alpn_select_cb(context, &select_alpn_protocol, nullptr);
}

Result<void> load_certificate(ssl::context& context, const TlsFiles& files) {
  error_code failed;
  context.use_certificate_chain_file(files.certificate, failed);
  if (failed) return tls_error("certificate \"" + files.certificate + "\"", failed);
  context.use_private_key_file(files.key, ssl::context::pem, failed);
  if (failed) return tls_error("key \"" + files.key + "\"", failed);
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return Error{
        ErrorCode::Misconfigured,
        "tls: key \"" + files.key + "\" does not match certificate \"" + files.certificate + "\""};
  }
  return {};
}

Result<void> require_client_certificates(ssl::context& context, const std::string& authority) {
  error_code failed;
  context.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, failed);
  if (!failed) context.load_verify_file(authority, failed);
  if (failed) return tls_error("client CA \"" + authority + "\"", failed);
  // Clients choose their certificate by this list.
  SSL_CTX_set_client_CA_list(context.native_handle(), SSL_load_client_CA_file(authority.c_str()));
  return {};
}

}  // namespace

std::shared_ptr<const TicketSecret> TicketSecret::make() {
  auto secret = std::make_shared<TicketSecret>();
  const bool is_random =
      RAND_bytes(secret->bytes_.data(), static_cast<int>(secret->bytes_.size())) == 1;
  return is_random ? secret : nullptr;
}

bool TicketSecret::set_keys(SSL_CTX* context, const TlsFiles& files) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> certificate{};
  unsigned size = 0;
  if (X509_digest(SSL_CTX_get0_certificate(context), EVP_sha256(), certificate.data(), &size) !=
      1) {
    return false;
  }
  // A counter, the certificate, and the authorities of clients.
  std::string input(1, '\0');
  input.append(certificate.begin(), certificate.begin() + size);
  std::ifstream authorities(files.client_ca, std::ios::binary);
  input.append(std::istreambuf_iterator<char>(authorities), {});
  std::array<unsigned char, std::size_t{3} * SHA256_DIGEST_LENGTH> keys{};
  for (std::size_t i = 0; i < keys.size(); i += SHA256_DIGEST_LENGTH) {
    ++input.front();
    const bool is_made = HMAC(EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()),
                              unsigned_bytes(input), input.size(), &keys[i], nullptr) != nullptr;
    if (!is_made) return false;
  }
  const long wanted = SSL_CTX_set_tlsext_ticket_keys(context, nullptr, 0);
  return wanted > 0 && static_cast<std::size_t>(wanted) <= keys.size() &&
         SSL_CTX_set_tlsext_ticket_keys(context, keys.data(), wanted) == 1;
}

Result<std::shared_ptr<ssl::context>> make_tls_context(const TlsFiles& files,
                                                       std::span<const std::string> protocols,
                                                       const TicketSecret* tickets) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  error_code failed;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | ssl::context::no_compression |
                           SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE,
                       failed);
  if (failed) return tls_error("protocol version", failed);
  const Result<void> loaded = load_certificate(*context, files);
  if (!loaded) return loaded.error();
  if (!files.client_ca.empty()) {
    const Result<void> asked = require_client_certificates(*context, files.client_ca);
    if (!asked) return asked.error();
  }
  SSL_CTX* const native = context->native_handle();
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(native, kCiphers) != 1) {
    return Error{ErrorCode::Misconfigured, "tls: OpenSSL lacks the cipher suites that are needed"};
  }
  set_alpn_protocols(native, protocols);
  // Idle connections release their buffers: 34 KB each.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  constexpr std::string_view kName = "penstock";
  if (SSL_CTX_set_session_id_context(native, unsigned_bytes(kName), kName.size()) != 1) {
    return Error{ErrorCode::Misconfigured, "tls: OpenSSL rejects the session id context"};
  }
  if (tickets != nullptr && !tickets->set_keys(native, files)) {
    return Error{ErrorCode::Misconfigured, "tls: OpenSSL rejects the keys of session tickets"};
  }
  return context;
}

std::string_view negotiated_protocol(const SSL* connection) {
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(connection, &protocol, &size);
  return {static_cast<const char*>(static_cast<const void*>(protocol)), size};
}

}  // namespace penstock::net
