#pragma once

#include <array>
#include <string_view>

namespace penstock::http_server {

struct Malformed {
  std::string_view bytes;
  unsigned status;
  std::string_view what;
};

// Requests that two servers may read differently (request smuggling), or that are malformed. Each
// must be rejected, and nothing after it may be read as a request.
inline constexpr std::array kMalformedRequests{
    Malformed{
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\n",
        400, "a length and chunks"},
    Malformed{
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
        "0\r\n\r\n",
        400, "chunks and a length"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
              400, "two lengths"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
              400, "one length, twice"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd", 400,
              "a list of lengths"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd", 400, "a sign"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "a negative length"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x4\r\n\r\nabcd", 400, "hexadecimal"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400, "no length"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4 4\r\n\r\nabcd", 400, "two words"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551617\r\n\r\n", 400,
              "a length beyond 64 bits"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 4\r\n\r\nabcd", 400,
              "a space before the colon"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nX: b\r\n Content-Length: 4\r\n\r\nabcd", 400,
              "a folded line"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n", 400,
              "a folded value"},
    Malformed{"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400, "a folded request line"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501,
              "an unknown coding"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
              501, "two codings"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n"
              "0\r\n\r\n",
              501, "chunked not last"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
              400, "chunked twice"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
              "Transfer-Encoding: x\r\n\r\n0\r\n\r\n",
              400, "chunked, then another"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b"
              "chunked\r\n\r\n0\r\n\r\n",
              400, "a vertical tab"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400,
              "chunked behind a space"},
    Malformed{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
              "chunks of HTTP/1.0"},
    Malformed{"GET / HTTP/1.1\nHost: a\n\n", 400, "bare line feeds"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400, "one bare line feed"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\r\n\n", 400, "a bare line feed at the end"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400, "a bare carriage return"},
    Malformed{"\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "a carriage return in front"},
    Malformed{"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "a line feed in front"},
    Malformed{" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "a space in front"},
    Malformed{
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\nabcd\r\n0\r\n\r\n", 400,
        "a bare line feed behind the size of a chunk"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcde\r\n"
              "0\r\n\r\n",
              400, "a chunk longer than it says"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc\r\n"
              "0\r\n\r\n",
              400, "a chunk shorter than it says"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\nabcd\r\n"
              "0\r\n\r\n",
              400, "a negative chunk"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x4\r\nabcd\r\n"
              "0\r\n\r\n",
              400, "a chunk with 0x"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
              "10000000000000004\r\nabcd\r\n0\r\n\r\n",
              400, "a chunk beyond 64 bits"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
              "4;a\nb\r\nabcd\r\n0\r\n\r\n",
              400, "a line feed in the extension of a chunk"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\r\nX y: b\r\n\r\n", 400, "a space in a name"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400, "no name"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400, "no colon"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01z\r\n\r\n", 400, "a control character"},
    Malformed{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "two hosts"},
    Malformed{"GET / HTTP/1.1\r\n\r\n", 400, "no host"},
    Malformed{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "two spaces"},
    Malformed{"GET / x HTTP/1.1\r\nHost: a\r\n\r\n", 505, "a space in the path"},
    Malformed{"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400, "a target that is no path"},
    Malformed{"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "a tunnel"},
    Malformed{"GET /\r\n\r\n", 400, "HTTP/0.9"},
    Malformed{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "HTTP/2.0"},
    Malformed{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "the preface of HTTP/2"},
    Malformed{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 505, "a space behind the version"},
    Malformed{"\x16\x03\x01\x02", 400, "TLS"},
    Malformed{"POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417, "an unknown expectation"},
};

}  // namespace penstock::http_server
