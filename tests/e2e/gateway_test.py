"""The gateway with nginx and Node as upstreams; curl, WebSockets and raw sockets as clients."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from daemon import SOURCE_DIR, Daemon, ask, eventually
from gateway_setup import GATEWAY, MEBIBYTE, RawUpstream, gateway, read_head, small_answers
from redis_server import free_port
from server_process import ServerProcess, require
from usage import resident_bytes

INTEROP = SOURCE_DIR / "tests" / "interop"
# A gibibyte in a long run, less in `make test`.
LARGE = int(os.environ.get("PENSTOCK_LARGE_MIB", "256")) * MEBIBYTE

NGINX = """
daemon off; master_process off; worker_processes 1;
pid nginx.pid; error_log stderr;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 100000;
  client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  server {{
    listen 127.0.0.1:{port};
    location / {{ root www; }}
    location /status/ {{ return 503; }}
  }}
}}
"""

# Name lookups take 15 seconds, as with a name server that does not respond.
SLOW_NAMES = """
#include <netdb.h>
#include <string.h>
#include <unistd.h>
int getaddrinfo(const char* name, const char* service, const struct addrinfo* hints, struct addrinfo** found) {
  (void)service, (void)hints, (void)found;
  if (name != NULL && strcmp(name, "slow.invalid") == 0) sleep(15);
  return EAI_AGAIN;
}
"""


class PeakMemory:
    """Peak memory of a process during the block."""

    def __init__(self, pid):
        self._pid = pid
        self._over = threading.Event()
        self.most = resident_bytes(pid)

    def __enter__(self):
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._over.wait(0.02):
            self.most = max(self.most, resident_bytes(self._pid))

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


class Node:
    """tests/interop/echo_server.mjs, with the package ws if npm can install it."""

    def __init__(self):
        require("node", "npm")
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        for name in ("package.json", "package-lock.json", "echo_server.mjs",
                     "websocket_client.mjs"):
            shutil.copy(INTEROP / name, self.folder / name)
        done = subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"],
                              cwd=self.folder, capture_output=True, check=False, timeout=120)
        self.has_packages = done.returncode == 0
        self.port = free_port()
        self._process = ServerProcess(["node", "echo_server.mjs", str(self.port)], self.port,
                                      self.folder)

    def run(self, *arguments):
        return subprocess.run(["node", *arguments], cwd=self.folder, capture_output=True,
                              encoding="utf-8", check=False, timeout=60)

    def close(self):
        self._process.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class InFrontOfNode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node()
        cls.addClassCleanup(cls.node.close)
        cls.daemon = gateway([cls.node.port], "forward_request_trailers: true")
        cls.addClassCleanup(cls.daemon.close)
        cls.port = cls.daemon.gateway_port

    def test_admits_up_to_the_limit_and_denies_the_rest_like_the_api(self):
        for left in (2, 1, 0):
            answer = ask(self.port, "GET", "/limited/a")
            self.assertEqual((answer.status, answer.fields["x-ratelimit-remaining"]),
                             (200, str(left)))
        before = self.daemon.metric("penstock_upstream_requests_total")
        answer = ask(self.port, "GET", "/limited/a")
        self.assertEqual(answer.status, 429)
        self.assertEqual(answer.fields["content-type"], "application/problem+json")
        self.assertIn("retry-after", answer.fields)
        self.assertEqual(answer.body["title"], "Quota Exceeded")
        self.assertEqual(self.daemon.metric("penstock_upstream_requests_total"), before)

    def test_forwards_the_client_address_to_the_application(self):
        answer = ask(self.port, "GET", "/who?x=1", headers={"X-Forwarded-For": "9.9.9.9"})
        fields = answer.body["fields"]
        self.assertEqual(answer.body["url"], "/who?x=1")
        self.assertEqual(fields["x-forwarded-for"], "127.0.0.1")
        self.assertEqual(fields["x-forwarded-proto"], "http")
        self.assertEqual(fields["x-forwarded-host"], f"127.0.0.1:{self.port}")
        self.assertEqual(fields["via"], "1.1 penstock")

    def test_large_bodies_pass_both_ways_in_constant_memory(self):
        require("curl")
        before = resident_bytes(self.daemon.pid)
        upload = f"head -c {LARGE} /dev/zero | curl -sS -T - http://127.0.0.1:{self.port}/swallow"
        download = f"curl -sS http://127.0.0.1:{self.port}/pour/{LARGE} | wc -c"
        with PeakMemory(self.daemon.pid) as memory:
            got = subprocess.run(["sh", "-c", upload], capture_output=True, check=True, timeout=120)
            self.assertEqual(json.loads(got.stdout)["size"], LARGE)
            got = subprocess.run(["sh", "-c", download], capture_output=True, check=True,
                                 timeout=120)
            self.assertEqual(int(got.stdout), LARGE)
        self.assertLess(memory.most - before, 8 * MEBIBYTE)

    def test_trailers_pass_both_ways(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(b"POST /swallow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                           b"Connection: close\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\nHost: evil\r\n\r\n")
            text = b"".join(iter(lambda: client.recv(65536), b""))
            self.assertIn(b'"trailers":{"x-sum":"7"}', text)
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(b"GET /pour/10 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            text = b"".join(iter(lambda: client.recv(65536), b""))
            self.assertTrue(text.endswith(b"0\r\nChecksum: done\r\n\r\n"), text)

    def test_a_denied_upload_is_answered_before_its_body(self):
        for _ in range(3):
            ask(self.port, "GET", "/limited/upload")
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(b"PUT /limited/upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n"
                           b"Expect: 100-continue\r\n\r\n")
            text = client.recv(65536)
            self.assertTrue(text.startswith(b"HTTP/1.1 429 "), text)
            self.assertIn(b"\r\nConnection: close\r\n", text)

    def test_expect_continue_is_forwarded_to_the_application(self):
        require("curl")
        url = f"http://127.0.0.1:{self.port}"
        done = subprocess.run(["curl", "-sS", "-v", "-H", "Expect: 100-continue", "-d", "hello",
                               url + "/swallow"], capture_output=True, encoding="utf-8", check=True,
                              timeout=30)
        self.assertIn("HTTP/1.1 100 Continue", done.stderr)
        self.assertEqual(json.loads(done.stdout)["size"], 5)
        done = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                               "Expect: 100-continue", "-d", "hello", url + "/reject"],
                              capture_output=True, encoding="utf-8", check=False, timeout=30)
        self.assertEqual(done.stdout, "417")

    def test_clients_detect_a_truncated_response(self):
        require("curl")
        done = subprocess.run(["curl", "-sS", "-o", "/dev/null", f"http://127.0.0.1:{self.port}/cut"],
                              capture_output=True, check=False, timeout=30)
        self.assertEqual(done.returncode, 18)  # "transfer closed with outstanding read data"

    def test_head_has_no_body(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(b"HEAD /x HTTP/1.1\r\nHost: a\r\n\r\nGET /y HTTP/1.1\r\nHost: a\r\n"
                           b"Connection: close\r\n\r\n")
            text = b"".join(iter(lambda: client.recv(65536), b""))
            self.assertEqual(text.count(b"HTTP/1.1 200"), 2)
            self.assertEqual(text.count(b'"method"'), 1)

    def test_http2_without_tls(self):
        require("nghttp")
        url = f"http://127.0.0.1:{self.port}"
        done = subprocess.run(["nghttp", "-v", "--no-content-length", "--trailer", "x-sum: 7", "-d", "-", "-m", "3",
                               url + "/swallow"], input="hello", capture_output=True,
                              encoding="utf-8", check=True, timeout=30)
        self.assertEqual(done.stdout.count('"size":5'), 3, done.stdout)
        self.assertEqual(done.stdout.count('"trailers":{"x-sum":"7"}'), 3, done.stdout)
        self.assertIn("x-ratelimit-limit: 100000000", done.stdout)

    def test_large_bodies_pass_over_http2_in_constant_memory(self):
        require("curl")
        before = resident_bytes(self.daemon.pid)
        url = f"http://127.0.0.1:{self.port}"
        curl = "curl -sS --http2-prior-knowledge"
        with PeakMemory(self.daemon.pid) as memory:
            got = subprocess.run(
                ["sh", "-c", f"head -c {LARGE} /dev/zero | {curl} -T - {url}/swallow"],
                capture_output=True, check=True, timeout=120)
            self.assertEqual(json.loads(got.stdout)["size"], LARGE)
            got = subprocess.run(["sh", "-c", f"{curl} {url}/pour/{LARGE} | wc -c"],
                                 capture_output=True, check=True, timeout=120)
            self.assertEqual(int(got.stdout), LARGE)
        self.assertLess(memory.most - before, 8 * MEBIBYTE)

    def test_a_header_that_is_too_large_is_rejected_with_the_limit(self):
        require("curl")
        for version in ("--http1.1", "--http2-prior-knowledge"):
            done = subprocess.run(["curl", "-sS", version, "-H", "X-Long: " + "a" * 17_000,
                                   f"http://127.0.0.1:{self.port}/"],
                                  capture_output=True, check=True, timeout=30)
            self.assertEqual(json.loads(done.stdout)["detail"],
                             "the header is larger than 16384 bytes (gateway.max_header_bytes)", version)
            head = subprocess.run(["curl", "-sSI", version, "-H", "X-Long: " + "a" * 17_000,
                                   f"http://127.0.0.1:{self.port}/"],
                                  capture_output=True, check=True, timeout=30)
            self.assertIn(b" 431", head.stdout.splitlines()[0])

    def test_http2_is_denied_and_truncated_like_http1(self):
        require("curl")
        url = f"http://127.0.0.1:{self.port}"
        curl = ["curl", "-sS", "--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code}"]
        statuses = [subprocess.run(curl + [url + "/limited/h2"], capture_output=True,
                                   encoding="utf-8", check=True, timeout=30).stdout
                    for _ in range(4)]
        self.assertEqual(statuses, ["200", "200", "200", "429"])
        done = subprocess.run(curl + [url + "/cut"], capture_output=True, check=False, timeout=30)
        self.assertNotEqual(done.returncode, 0)

    def test_websockets_echo(self):
        if not self.node.has_packages:
            self.skipTest("npm cannot bring the package ws")
        done = self.node.run("websocket_client.mjs", f"ws://127.0.0.1:{self.port}/", "500")
        self.assertEqual(done.stdout, "heard 500 closed 1000\n", done.stderr)


class InFrontOfNginx(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("nginx")
        cls.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "www").mkdir()
        (cls.folder / "www" / "small").write_text("hello\n", encoding="utf-8")
        with open(cls.folder / "www" / "large", "wb") as file:
            file.truncate(64 * MEBIBYTE)
        cls.nginx_port = free_port()
        (cls.folder / "nginx.conf").write_text(NGINX.format(port=cls.nginx_port), encoding="utf-8")
        cls.nginx = ServerProcess(["nginx", "-p", str(cls.folder), "-c", "nginx.conf"],
                                  cls.nginx_port, cls.folder)
        cls.addClassCleanup(cls.nginx.close)

    def test_two_thousand_connections_at_once(self):
        with gateway([self.nginx_port], workers=2) as daemon:
            clients = []
            try:
                for _ in range(2000):
                    clients.append(socket.create_connection(("127.0.0.1", daemon.gateway_port),
                                                            timeout=30))
                for client in clients:
                    client.sendall(b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
                for client in clients:
                    text = read_head(client)
                    self.assertTrue(text.startswith(b"HTTP/1.1 200 "), text)
                self.assertTrue(eventually(
                    lambda: daemon.metric('penstock_listener_connections{listener="gateway"}') == 2000))
            finally:
                for client in clients:
                    client.close()

    def test_a_slow_reader_applies_back_pressure(self):
        with gateway([self.nginx_port]) as daemon, PeakMemory(daemon.pid) as memory:
            before = resident_bytes(daemon.pid)
            clients = []
            for _ in range(50):
                client = socket.create_connection(("127.0.0.1", daemon.gateway_port), timeout=20)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                clients.append(client)
            self.assertTrue(eventually(lambda: daemon.metric("penstock_upstream_in_flight") == 50))
            time.sleep(1)  # nothing more is read meanwhile
            for client in clients:
                client.close()
            self.assertTrue(eventually(lambda: daemon.metric("penstock_upstream_in_flight") == 0))
        self.assertLess(memory.most - before, 8 * MEBIBYTE)

    def test_tls(self):
        require("openssl")
        made = self.folder / "tls"
        made.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem", "-out",
                        "cert.pem", "-subj", "/CN=localhost", "-days", "2"],
                       cwd=made, check=True, capture_output=True)
        more = f"tls: {{certificate: {made}/cert.pem, key: {made}/key.pem}}"
        with gateway([self.nginx_port], more=more) as daemon:
            context = ssl.create_default_context(cafile=made / "cert.pem")
            context.check_hostname = False
            with socket.create_connection(("127.0.0.1", daemon.gateway_port), timeout=20) as plain:
                with context.wrap_socket(plain) as client:
                    for _ in range(2):
                        client.sendall(b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n")
                        text = b""
                        while not text.endswith(b"hello\n"):
                            text += client.recv(65536)
            done = subprocess.run(["curl", "-sSk", f"https://127.0.0.1:{daemon.gateway_port}/large"],
                                  capture_output=True, check=True, timeout=60)
            self.assertEqual(len(done.stdout), 64 * MEBIBYTE)
            done = subprocess.run(["curl", "-sSk", "--http2", "-w", "%{http_version}",
                                   f"https://127.0.0.1:{daemon.gateway_port}/small"],
                                  capture_output=True, check=True, timeout=60)
            self.assertEqual(done.stdout, b"hello\n2")


class WithScriptedUpstreams(unittest.TestCase):
    def upstream(self, serve):
        made = RawUpstream(serve)
        self.addCleanup(made.close)
        return made

    def test_a_closed_keepalive_connection_is_retried(self):
        def once(upstream, connection):
            read_head(connection)
            upstream.requests += 1
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            time.sleep(0.01)  # then closes

        upstream = self.upstream(once)
        with gateway([upstream.port]) as daemon:
            for i in range(100):
                self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 200, i)
                time.sleep(0.001 * (i % 15))
        self.assertEqual(upstream.requests, 100)

    def test_an_upload_over_http2_arrives_complete_at_a_slow_server(self):
        body = os.urandom(16 * MEBIBYTE)  # more than socket buffers
        received = []

        def slow(upstream, connection):
            text = bytearray(read_head(connection).partition(b"\r\n\r\n")[2])
            while len(text) < len(body):
                if len(text) < MEBIBYTE:
                    time.sleep(0.02)
                text += connection.recv(65536)
            received.append(bytes(text))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        upstream = self.upstream(slow)
        with gateway([upstream.port]) as daemon, tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            result = subprocess.run(
                ["curl", "-sS", "--http2-prior-knowledge", "--data-binary", "@" + file.name,
                 f"http://127.0.0.1:{daemon.gateway_port}/"],
                capture_output=True, timeout=60, check=False)
        self.assertEqual(result.stdout, b"ok", result.stderr)
        self.assertEqual(len(received), 1)
        self.assertTrue(received[0] == body, "the body was changed on its way")

    def test_upstream_connections_are_reused_for_http2_clients(self):
        upstream = self.upstream(small_answers)
        with gateway([upstream.port]) as daemon:
            result = subprocess.run(
                ["h2load", "-n20", "-c1", "-m1", f"http://127.0.0.1:{daemon.gateway_port}/"],
                capture_output=True, encoding="utf-8", timeout=60, check=False)
            self.assertIn("20 succeeded", result.stdout)
        self.assertLessEqual(upstream.connections, 2)

    def test_a_body_that_looks_like_http2_is_forwarded(self):
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)
        port = free_port()
        text = GATEWAY.format(port=port, more="", workers=1, upstream="", servers='"http://127.0.0.1:9"')
        with Daemon(text.replace("routes: [{", "routes: [{path: /app/**, ")):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
                client.sendall(b"POST /other HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
                               % len(preface) + preface)
                text = b""
                while more := client.recv(4096):
                    text += more
        self.assertTrue(text.startswith(b"HTTP/1.1 404 "), text)
        self.assertTrue(text.endswith(b"}\n"), text)  # no HTTP/2 frame

    def test_a_dead_server_is_502_and_the_next_request_uses_another(self):
        upstream = self.upstream(small_answers)
        with gateway([free_port(), upstream.port]) as daemon:
            for _ in range(20):
                self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 200)
        with gateway([free_port()]) as daemon:
            answer = ask(daemon.gateway_port, "GET", "/")
            self.assertEqual(answer.status, 502)
            self.assertEqual(answer.fields["content-type"], "application/problem+json")

    def test_no_answer_in_time_is_504(self):
        upstream = self.upstream(lambda _, connection: time.sleep(5))
        with gateway([upstream.port], upstream="first_byte_timeout: 300ms") as daemon:
            self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 504)

    def test_a_name_lookup_that_times_out_is_504(self):
        require("cc")
        folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "slow.c").write_text(SLOW_NAMES, encoding="utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "slow.so", "slow.c"], cwd=folder, check=True)
        port = free_port()
        text = GATEWAY.format(port=port, more="", workers=1, servers="http://slow.invalid",
                              upstream=", connect_timeout: 300ms")
        with Daemon(text, env={"LD_PRELOAD": str(folder / "slow.so")}):
            started = time.monotonic()
            self.assertEqual(ask(port, "GET", "/").status, 504)
            self.assertLess(time.monotonic() - started, 10)

    def test_a_malformed_answer_is_502(self):
        def malformed(_, connection):
            read_head(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")

        with gateway([self.upstream(malformed).port]) as daemon:
            self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 502)

    def test_limits_on_requests_in_flight(self):
        release = threading.Event()

        def slow(upstream, connection):
            read_head(connection)
            upstream.requests += 1
            release.wait(20)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        for more, upstream_option, status in (
                ("max_in_flight: {key: client_ip, limit: 3}", "", 429), ("", "max_in_flight: 3", 503)):
            release.clear()
            upstream = self.upstream(slow)
            with gateway([upstream.port], more=more, upstream=upstream_option) as daemon:
                answers = []
                threads = [threading.Thread(target=lambda: answers.append(
                    ask(daemon.gateway_port, "GET", "/").status)) for _ in range(3)]
                for thread in threads:
                    thread.start()
                self.assertTrue(eventually(lambda: upstream.requests == 3))
                answer = ask(daemon.gateway_port, "GET", "/")
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.fields["retry-after"], "1")
                release.set()
                for thread in threads:
                    thread.join()
                self.assertEqual(answers, [200] * 3)
                self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 200)

    def test_a_client_that_disconnects_aborts_its_upstream_request(self):
        disconnected = threading.Event()

        def slow(upstream, connection):
            read_head(connection)
            upstream.requests += 1
            if connection.recv(1) == b"":
                disconnected.set()

        upstream = self.upstream(slow)
        with gateway([upstream.port]) as daemon:
            with socket.create_connection(("127.0.0.1", daemon.gateway_port), timeout=20) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertTrue(eventually(lambda: upstream.requests == 1))
            self.assertTrue(disconnected.wait(10))
            self.assertTrue(eventually(lambda: daemon.metric("penstock_upstream_in_flight") == 0))

    def test_health_checks_eject_and_restore_servers(self):
        sick = threading.Event()

        def checked(upstream, connection):
            while True:
                head = read_head(connection)
                if not head:
                    return
                is_check = head.startswith(b"GET /up ")
                upstream.requests += not is_check
                status = b"500 Sick" if is_check and sick.is_set() else b"200 OK"
                connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nok")

        upstream = self.upstream(checked)
        health = "health: {path: /up, interval: 20ms, timeout: 1s, healthy: 2, unhealthy: 2}"
        with gateway([upstream.port], upstream=health) as daemon:
            self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 200)
            sick.set()
            self.assertTrue(eventually(
                lambda: ask(daemon.gateway_port, "GET", "/").status == 503))
            sick.clear()
            self.assertTrue(eventually(
                lambda: ask(daemon.gateway_port, "GET", "/").status == 200))

    def test_the_access_log_has_a_line_for_each_request(self):
        upstream = self.upstream(small_answers)
        with gateway([upstream.port], more="access_log: {format: json, path: access.log}") as daemon:
            ask(daemon.gateway_port, "GET", "/a?b")
            for _ in range(4):
                ask(daemon.gateway_port, "GET", "/limited/log")
            log = daemon.folder / "access.log"
            self.assertTrue(eventually(lambda: log.exists() and log.read_text().count("\n") == 5))
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            self.assertEqual(lines[0]["target"], "/a?b")
            self.assertEqual(lines[0]["status"], 200)
            self.assertEqual(lines[0]["upstream"], "app")
            self.assertEqual(lines[4]["status"], 429)
            self.assertEqual(lines[4]["upstream"], "")

    def test_the_example_starts(self):
        upstream = self.upstream(small_answers)
        text = (SOURCE_DIR / "examples" / "gateway" / "penstock.yaml").read_text(encoding="utf-8")
        port = free_port()
        text = text.replace("127.0.0.1:3000", f"127.0.0.1:{upstream.port}")
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{port}")
        with Daemon(text) as daemon:
            self.assertEqual(ask(port, "GET", "/").status, 200)
            for _ in range(5):
                self.assertEqual(ask(port, "POST", "/login", body="x").status, 200)
            self.assertEqual(ask(port, "POST", "/login", body="x").status, 429)
            self.assertTrue(eventually(lambda: '"POST /login HTTP/1.1" 429' in daemon.output))


if __name__ == "__main__":
    unittest.main()
