"""Clients that try to bypass the gateway's rules or to exhaust it."""

import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import http2_client as h2
from daemon import Daemon, eventually
from gateway_setup import RawUpstream
from raw_client import RawClient
from redis_server import free_port
from server_process import require
from usage import cpu_seconds, resident_bytes

GATEWAY = """
server: {{headers: [x-ratelimit], workers: 1}}
gateway:
  listen: 127.0.0.1:{port}
  {more}
  upstreams:
    app: {{servers: ["http://127.0.0.1:{server}"]}}
  routes:
    - {{path: /api/**, upstream: app, strip_prefix: /api}}
    - {{upstream: app}}
domains:
  default:
    rules:
      - {{name: by-key, key: [header.x-api-key], limit: 3/hour}}
      - {{name: anonymous, when: {{path: /keyed, header.x-api-key: {{present: false}}}}, key: [client_ip], limit: 3/hour}}
      - {{name: login, when: {{path: /login}}, key: [client_ip], limit: 3/hour}}
      - {{name: closed, when: {{path: /closed}}, limit: 1/hour}}
"""


def gateway(server, more="", files=None):
    port = free_port()
    daemon = Daemon(GATEWAY.format(port=port, more=more, server=server), files=files)
    daemon.gateway_port = port
    return daemon


def recording(requests):
    """Records the bytes of each request and answers 200."""

    def serve(upstream, connection):
        received = b""
        while True:
            while b"\r\n\r\n" not in received:
                more = connection.recv(65536)
                if not more:
                    return
                received += more
            end = received.index(b"\r\n\r\n") + 4
            if b"\r\nTransfer-Encoding: chunked\r\n" in received[:end]:
                while not received[end:].startswith(b"0\r\n") and b"\r\n0\r\n" not in received[end:]:
                    received += connection.recv(65536)
                while not received.endswith(b"\r\n\r\n"):
                    received += connection.recv(65536)
                end = len(received)
            requests.append(received[:end].decode("latin-1"))
            received = received[end:]
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    return serve


class RuleEvasionTest(unittest.TestCase):
    def setUp(self):
        self.requests = []
        self.upstream = RawUpstream(recording(self.requests))
        self.daemon = gateway(self.upstream.port)
        self.addCleanup(self.daemon.close)

    def status(self, target, *fields, method="GET", body=b"", daemon=None):
        lines = [f"{method} {target} HTTP/1.1", "Host: a", *fields]
        with RawClient((daemon or self.daemon).gateway_port) as client:
            client.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
            return client.answer()[0]

    def test_a_key_that_connection_removes_is_not_seen_by_rules(self):
        statuses = [self.status("/keyed", "Connection: close, x-api-key", f"X-Api-Key: {number}")
                    for number in range(6)]
        self.assertEqual(statuses, [200] * 3 + [429] * 3)
        self.assertNotIn("x-api-key", "".join(self.requests).lower())

    def test_connection_may_not_name_required_fields(self):
        for name in ("Host", "Content-Length", "Authorization", "Cookie", "X-Forwarded-For"):
            self.assertEqual(self.status("/", f"Connection: close, {name}"), 400, name)
        self.assertEqual(self.requests, [])

    def test_a_repeated_key_is_the_same_for_rules_and_application(self):
        self.assertEqual(self.status("/", "X-Api-Key: a", "X-Api-Key: b"), 200)
        self.assertIn("\r\nX-Api-Key: a, b\r\n", self.requests[0])
        self.assertEqual(self.status("/", "Authorization: a", "Authorization: b"), 400)

    def test_unsafe_requests_are_rejected(self):
        for path in ("/login%00", "/login%0d%0aX:1", "/login%", "/login%zz", "/login\\x", "/x%5clogin",
                     "/x%2flogin", "/../login", "/x/..;/login", "*"):
            self.assertEqual(self.status(path), 400, path)
        self.assertEqual(self.requests, [])
        self.assertEqual(self.status("*", method="OPTIONS"), 200)

    def test_every_spelling_of_a_path_has_one_limit(self):
        paths = ["/login", "//login", "/./login", "/x/../login", "/%6Cogin", "/login;x=1", "/;x/login",
                 "/login/", "/api/x/../../login"]
        statuses = [self.status(path) for path in paths]
        self.assertEqual(statuses, [200] * 3 + [429] * (len(paths) - 3))
        self.assertEqual([one.split()[1] for one in self.requests], ["/login"] * 3)

    def test_a_prefix_is_stripped_from_the_normal_path(self):
        for path in ("/api/v1", "/%61pi/v1", "/x/../api/v1", "/api//x/../v1", "//api/v1"):
            self.assertEqual(self.status(path), 200, path)
        self.assertEqual({one.split()[1] for one in self.requests}, {"/v1"})

    def test_paths_follow_the_settings(self):
        more = ("paths: {escaped_slashes: decode, backslashes: slash, parameters: reject, "
                "case: insensitive, merge_slashes: true}")
        with gateway(self.upstream.port, more) as daemon:
            self.assertEqual(self.status("/login;x", daemon=daemon), 400)
            statuses = [self.status(path, daemon=daemon)
                        for path in ("/x/..%2flogin", "/x\\..\\login", "/LOGIN", "/Login")]
            self.assertEqual(statuses, [200] * 3 + [429])
            self.requests.clear()
            self.assertEqual(self.status("/Api/V1", daemon=daemon), 200)
            self.assertEqual(self.requests[0].split()[1], "/V1")

    def test_fields_that_servers_confuse_are_dropped(self):
        body = b"2\r\nok\r\n0\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Prefix: /x\r\nX-Api-Key: t\r\n\r\n"
        self.assertEqual(self.status(
            "/", "X_Api_Key: u", "X_Forwarded_For: 9.9.9.9", "X-Original-URL: /admin",
            "X-Rewrite-URL: /admin", "Proxy: http://evil", "Transfer-Encoding: chunked",
            "Trailer: X-Api-Key", method="POST", body=body), 200)
        text = self.requests[0].lower()
        for forged in ("9.9.9.9", "/admin", "evil", "prefix", "api", "trailer", "_"):
            self.assertNotIn(forged, text)

    def test_underscores_and_trailers_follow_the_settings(self):
        more = "headers_with_underscores: allow\n  forward_request_trailers: true"
        body = b"2\r\nok\r\n0\r\nX-Sum: 7\r\nX-Forwarded-For: 9.9.9.9\r\nX-Rewrite-URL: /\r\n\r\n"
        with gateway(self.upstream.port, more) as daemon:
            self.assertEqual(self.status("/", "X_Odd: 1", "Trailer: X-Sum", "Transfer-Encoding: chunked",
                                         method="POST", body=body, daemon=daemon), 200)
        self.assertIn("\r\nX_Odd: 1\r\n", self.requests[0])
        self.assertIn("\r\nTrailer: X-Sum\r\n", self.requests[0])
        self.assertTrue(self.requests[0].endswith("\r\n0\r\nX-Sum: 7\r\n\r\n"), self.requests[0])
        with gateway(self.upstream.port, "headers_with_underscores: reject") as daemon:
            self.assertEqual(self.status("/", "X_Odd: 1", daemon=daemon), 400)


def swallow(upstream, connection):
    """Reads forever and never answers."""
    upstream.requests += 1
    while connection.recv(65536):
        pass


def pour(upstream, connection):
    """Sends an endless response."""
    upstream.requests += 1
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    try:
        while True:
            connection.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
    except OSError:
        pass


def event_stream(upstream, connection):
    """Sends one short event at a time, like server-sent events."""
    upstream.requests += 1
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(20):
        time.sleep(0.2)
        connection.sendall(b"3\r\n:\n\n\r\n")
    connection.sendall(b"0\r\n\r\n")


SLOW = "body_timeout: 1s\n  write_timeout: 1s\n  min_upload_rate: 240\n  min_download_rate: 100000"


def get(stream):
    return h2.headers(stream, h2.request_fields("GET", "/"), h2.END_HEADERS | h2.END_STREAM)


def closes_in_time(step, seconds=20):
    """Repeats `step` until it returns true or the time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if step():
            return True
    return False


class SlowClientTest(unittest.TestCase):
    def test_a_body_below_the_minimum_rate_is_rejected(self):
        upstream = RawUpstream(swallow)
        with gateway(upstream.port, SLOW) as daemon, RawClient(daemon.gateway_port) as client:
            client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            client.socket.settimeout(0.2)
            received = b""

            def drip():
                nonlocal received
                try:
                    client.send(b"x")
                    received += client.socket.recv(65536)
                except TimeoutError:
                    return False
                except OSError:
                    return True
                return True

            self.assertTrue(closes_in_time(drip))
            self.assertTrue(received.startswith(b"HTTP/1.1 408 "), received)
            self.assertTrue(eventually(lambda: daemon.metric("penstock_upstream_in_flight") == 0))

    def test_a_slow_body_over_http2_is_rejected(self):
        upstream = RawUpstream(swallow)
        with gateway(upstream.port, SLOW) as daemon, h2.Http2Client(daemon.gateway_port) as client:
            client.send(h2.headers(1, h2.request_fields("POST", "/")))

            def drip():
                client.send(h2.frame(h2.DATA, 0, 1, b"x"))
                client.read(0.2)
                return client.closed or client.has(h2.HEADERS)

            self.assertTrue(closes_in_time(drip))

    def test_a_reader_below_the_rate_is_disconnected(self):
        upstream = RawUpstream(pour)
        with gateway(upstream.port, SLOW) as daemon:
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            reader.connect(("127.0.0.1", daemon.gateway_port))
            reader.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

            def sip():
                time.sleep(0.2)
                try:
                    return not reader.recv(4096)
                except ConnectionError:
                    return True

            self.assertTrue(closes_in_time(sip))
            reader.close()

    def test_a_reader_that_opens_its_window_byte_by_byte_is_disconnected(self):
        upstream = RawUpstream(pour)
        window = struct.pack(">HI", 4, 1)
        with gateway(upstream.port, SLOW) as daemon, h2.Http2Client(daemon.gateway_port,
                                                                    settings=window) as client:
            client.send(get(1))

            def open_a_little():
                client.send(h2.frame(h2.WINDOW_UPDATE, 0, 1, h2.uint32(1)))
                client.read(0.2)
                time.sleep(0.05)
                return client.closed or 1 in client.ended

            self.assertTrue(closes_in_time(open_a_little))

    def test_the_reader_of_a_slow_event_stream_stays_connected(self):
        upstream = RawUpstream(event_stream)
        with gateway(upstream.port, SLOW) as daemon, RawClient(daemon.gateway_port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertEqual(client.answer()[2], b":\n\n" * 20)


class Resets(unittest.TestCase):
    STREAMS = 10_000

    def flood(self, daemon, make_reset, answered):
        """Requests that are reset at once, at most `max_streams` at a time. Returns the reason of the GOAWAY."""
        with h2.Http2Client(daemon.gateway_port) as client:
            for number in range(self.STREAMS):
                if answered:
                    client.wait_for(lambda n=number: client.goaway or len(client.ended) > n - 64)
                if client.goaway or not client.send(get(2 * number + 1) + make_reset(2 * number + 1)):
                    break
                client.read()
            self.assertTrue(client.wait_for(lambda: client.goaway), "no GOAWAY")
            return client.goaway[0]

    def check(self, make_reset, answered=False):
        upstream = RawUpstream(swallow)
        with gateway(upstream.port) as daemon:
            before = cpu_seconds(daemon.pid)
            self.assertEqual(self.flood(daemon, make_reset, answered), h2.ENHANCE_YOUR_CALM)
            self.assertLess(cpu_seconds(daemon.pid) - before, 5)
            self.assertLess(upstream.connections, 3000)
            self.assertLess(resident_bytes(daemon.pid), 256 << 20)
            with RawClient(daemon.gateway_port) as client:  # other clients are served
                client.send(b"GET /nowhere HTTP/1.1\r\n\r\n")
                self.assertEqual(client.answer()[0], 400)

    def test_resets_of_the_client_end_the_connection(self):
        self.check(lambda stream: h2.frame(h2.RST_STREAM, 0, stream, h2.uint32(8)))

    def test_resets_provoked_by_the_client_end_the_connection(self):
        self.check(lambda stream: h2.frame(h2.WINDOW_UPDATE, 0, stream, h2.uint32(0x7FFFFFFF)),
                   answered=True)


NODE_CLIENT = """
import http2 from 'node:http2';
const [url, path] = process.argv.slice(2);
const client = http2.connect(url, {rejectUnauthorized: false});
const request = client.request({':method': 'POST', ':path': path});
let status = 0, text = '';
request.on('response', (head) => { status = head[':status']; });
request.on('data', (piece) => { text += piece; });
request.on('error', (error) => { console.log('error ' + error.message); process.exit(1); });
request.on('close', () => { console.log(status + ' ' + text.length); client.destroy(); });
request.end(Buffer.alloc(1 << 20));
setTimeout(() => { console.log('hangs'); process.exit(1); }, 15000);
"""


class EarlyAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("openssl")
        cls.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-out", str(cls.folder / "cert.pem"), "-keyout", str(cls.folder / "key.pem")],
                       check=True, capture_output=True)
        cls.upstream = RawUpstream(recording([]))
        cls.daemon = gateway(
            cls.upstream.port,
            f"tls: {{certificate: {cls.folder}/cert.pem, key: {cls.folder}/key.pem}}")
        cls.addClassCleanup(cls.daemon.close)
        cls.url = f"https://127.0.0.1:{cls.daemon.gateway_port}"

    def test_curl_gets_a_denial_before_its_body_is_sent(self):
        require("curl")
        (self.folder / "body").write_bytes(bytes(1 << 20))
        subprocess.run(["curl", "-sS", "-k", "-o", "/dev/null", self.url + "/closed"], check=True,
                       timeout=30)
        statuses = []
        for _ in range(20):
            done = subprocess.run(
                ["curl", "-sS", "-k", "--http2", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST",
                 "-T", str(self.folder / "body"), self.url + "/closed"],
                capture_output=True, encoding="utf-8", check=False, timeout=30)
            statuses.append(done.stdout if done.returncode == 0 else done.stderr)
        self.assertEqual(statuses, ["429"] * 20)

    def test_node_gets_a_denial_before_its_body_is_sent(self):
        require("node")
        (self.folder / "client.mjs").write_text(NODE_CLIENT, encoding="utf-8")
        subprocess.run(["curl", "-sS", "-k", "-o", "/dev/null", self.url + "/closed"], check=True,
                       timeout=30)
        for _ in range(5):
            done = subprocess.run(["node", str(self.folder / "client.mjs"), self.url, "/closed"],
                                  capture_output=True, encoding="utf-8", check=False, timeout=60)
            self.assertRegex(done.stdout, r"^429 [1-9]", done.stderr)


class Answers(unittest.TestCase):
    def test_a_header_that_is_too_long_is_named(self):
        def serve(_, connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20000 + b"\r\n\r\n")

        upstream = RawUpstream(serve)
        with gateway(upstream.port) as daemon, RawClient(daemon.gateway_port) as client:
            status, _, body = client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").answer()
            self.assertEqual(status, 502)
            self.assertIn(b"longer than gateway.max_header_bytes", body)

    def test_trailers_are_announced_when_they_are_forwarded(self):
        def serve(_, connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTrailer: Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
                               b"2\r\nok\r\n0\r\nSum: 7\r\n\r\n")

        upstream = RawUpstream(serve)
        with gateway(upstream.port) as daemon, RawClient(daemon.gateway_port) as client:
            client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            text = client.everything()
            self.assertIn(b"\r\nTrailer: Sum\r\n", text)
            self.assertTrue(text.endswith(b"0\r\nSum: 7\r\n\r\n"), text)


if __name__ == "__main__":
    unittest.main()
