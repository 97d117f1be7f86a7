#include "redis/tls.hpp"

#include <boost/asio/ssl/verify_mode.hpp>
#include <openssl/ssl.h>

#include <string>

namespace penstock::redis {
namespace {

namespace ssl = boost::asio::ssl;

Error unusable(const std::string& what, const boost::system::error_code& why) {
  return {ErrorCode::Misconfigured, "TLS: " + what + ": " + why.message()};
}

}  // namespace

Result<std::shared_ptr<ssl::context>> make_tls_context(const TlsOptions& options) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  boost::system::error_code failed;
  context->set_options(
      ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
      failed);
  if (failed) return unusable("protocol version", failed);
  // TLS 1.2: only suites with forward secrecy and authenticated encryption. All TLS 1.3 suites have
  // both.
  if (SSL_CTX_set_cipher_list(context->native_handle(), "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
    return Error{ErrorCode::Misconfigured, "TLS: OpenSSL lacks the cipher suites that are needed"};
  }
  context->set_verify_mode(ssl::verify_peer, failed);
  if (failed) return unusable("verification", failed);
  if (options.ca_file.empty()) {
    context->set_default_verify_paths(failed);
  } else {
    context->load_verify_file(options.ca_file, failed);
  }
  if (failed) return unusable("CA file \"" + options.ca_file + "\"", failed);
  if (!options.certificate_file.empty()) {
    context->use_certificate_chain_file(options.certificate_file, failed);
    if (failed) return unusable("certificate \"" + options.certificate_file + "\"", failed);
    const std::string& key = options.key_file.empty() ? options.certificate_file : options.key_file;
    context->use_private_key_file(key, ssl::context::pem, failed);
    if (failed) return unusable("key \"" + key + "\"", failed);
  }
  return context;
}

}  // namespace penstock::redis
