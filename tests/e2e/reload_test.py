"""Settings of every section take effect on reload: without a restart, without a lost request."""

import json
import shutil
import signal
import socket
import ssl
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from daemon import Daemon, ask, eventually
from grpc_calls import Client, Messages, grpc, grpc_port
from link import Link
from raw_client import RawClient
from redis_server import RedisServer, free_port
from resp_client import RespClient
from serve_test import Hammer
from server_process import require
from tls_test import Certificates

DOMAINS = "domains: {default: {rules: [{name: all, limit: 1000000000/hour, on_failure: closed}]}}\n"
RESTART = "take effect after a restart"
CHECK = {"domain": "default", "attributes": {"user": "a"}}


def reload(daemon, settings):
    """Replaces the settings, and waits until all workers use them."""
    def reloads():
        return daemon.metric('penstock_config_reloads_total{result="ok"}')
    before = reloads()
    # as a whole: the daemon also watches the file, and may read it between two writes
    new = daemon.configuration.with_suffix(".new")
    new.write_text(settings + DOMAINS, encoding="utf-8")
    new.replace(daemon.configuration)
    daemon.signal(signal.SIGHUP)
    if not eventually(lambda: reloads() > before):
        raise AssertionError("no reload")


class Upstream:
    """An HTTP server whose responses have its name as body."""

    def __init__(self, name):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name.encode())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class ReloadCase(unittest.TestCase):
    def check_stays(self, daemon, settings, effect):
        """`effect` becomes true after a reload, while other clients are served without an error."""
        hammer = Hammer(lambda _: daemon.ask("POST", "/v1/check", CHECK).status, threads=2)
        try:
            reload(daemon, settings)
            self.assertTrue(eventually(effect), settings)
        finally:
            answers = hammer.stop()
        self.assertEqual(set(answers), {200})
        self.assertNotIn(RESTART, daemon.output)


class Listeners(ReloadCase):
    def test_the_body_limit_of_http_changes_for_an_open_connection(self):
        body = json.dumps({**CHECK, "attributes": {"user": "a" * 2000}}).encode()
        request = b"POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        with Daemon("server: {workers: 2}\n" + DOMAINS) as daemon, RawClient(daemon.port) as client:
            self.assertEqual(client.send(request).answer("POST")[0], 200)
            self.check_stays(daemon, "server: {workers: 2, max_body_bytes: 1000}\n",
                             lambda: daemon.ask("POST", "/v1/check", body).status == 413)
            self.assertEqual(client.send(request).answer("POST")[0], 413)

    def test_the_idle_timeout_of_http_closes_connections_that_are_open(self):
        with Daemon("server: {idle_timeout: 60s}\n" + DOMAINS) as daemon, RawClient(daemon.port) as client:
            client.send(b"GET /v1/counters/a HTTP/1.1\r\nHost: a\r\n\r\n").answer()
            began = time.monotonic()
            reload(daemon, "server: {idle_timeout: 100ms}\n")
            self.assertEqual(client.everything(), b"")
            self.assertLess(time.monotonic() - began, 20)

    def test_rate_limit_headers_change(self):
        def has_x():
            return "x-ratelimit-limit" in daemon.ask("POST", "/v1/check", CHECK).fields
        with Daemon("server: {headers: off}\n" + DOMAINS) as daemon:
            self.assertFalse(has_x())
            self.check_stays(daemon, "server: {headers: x-ratelimit}\n", has_x)

    def test_the_connection_limit_changes(self):
        with Daemon("server: {workers: 1, max_connections: 1000}\n" + DOMAINS) as daemon:
            with RawClient(daemon.port) as one, RawClient(daemon.port) as two:
                for client in (one, two):
                    self.assertEqual(client.send(b"GET /v1/counters/a HTTP/1.1\r\nHost: a\r\n\r\n").answer()[0], 200)
                reload(daemon, "server: {workers: 1, max_connections: 2}\n")
                self.assertTrue(eventually(lambda: daemon.ask("POST", "/v1/check", CHECK).status == 503))
                self.assertEqual(one.send(b"GET /v1/counters/a HTTP/1.1\r\nHost: a\r\n\r\n").answer()[0], 200)
                reload(daemon, "server: {workers: 1, max_connections: 1000}\n")
                self.assertTrue(eventually(lambda: daemon.ask("POST", "/v1/check", CHECK).status == 200))

    def test_tls_is_turned_on_and_off(self):
        require("openssl")
        certificates = Certificates()
        self.addCleanup(certificates.close)
        certificate, key = certificates.make("server")
        files = {"server.pem": certificate.read_text(), "server.key": key.read_text()}

        def speaks_tls():
            context = ssl.create_default_context(cafile=str(certificate))
            context.check_hostname = False
            try:
                with socket.create_connection(("127.0.0.1", daemon.port), timeout=20) as plain:
                    context.wrap_socket(plain).close()
                return True
            except (ssl.SSLError, ConnectionError):
                return False
        with Daemon(DOMAINS, files=files) as daemon, RawClient(daemon.port) as client:
            get = b"GET /v1/counters/a HTTP/1.1\r\nHost: a\r\n\r\n"
            self.assertEqual(client.send(get).answer()[0], 200)  # so it was accepted before the reload
            reload(daemon, "server: {tls: {certificate: server.pem, key: server.key}}\n")
            self.assertTrue(eventually(speaks_tls))
            # an open connection stays as it is
            self.assertEqual(client.send(get).answer()[0], 200)
            reload(daemon, "")
            self.assertTrue(eventually(lambda: not speaks_tls()))
            self.assertEqual(daemon.ask("POST", "/v1/check", CHECK).status, 200)
            self.assertNotIn(RESTART, daemon.output)

    def test_the_request_limit_of_resp_changes_for_an_open_connection(self):
        listen = "resp: {listen: '127.0.0.1:0'%s}\n"
        with Daemon(listen % "" + DOMAINS) as daemon, RespClient(daemon.resp_port) as client:
            self.assertEqual(client.ask("PING", "a" * 2000), "a" * 2000)
            def is_rejected():
                with RespClient(daemon.resp_port) as other:
                    try:
                        return other.ask("PING", "a" * 2000) is None
                    except RuntimeError:
                        return True
            self.check_stays(daemon, listen % ", max_request_bytes: 1000", is_rejected)
            with self.assertRaises(RuntimeError):
                client.ask("PING", "a" * 2000)

    def test_message_size_and_headers_of_grpc_change_for_an_open_connection(self):
        listen = "server: {headers: %s}\ngrpc: {listen: '127.0.0.1:0', max_message_bytes: %d}\n"
        with Daemon(listen % ("off", 65536) + DOMAINS) as daemon:
            with Client(Messages(), grpc_port(daemon)) as client:
                self.assertEqual(len(client.ask("default", {"a": "b"}).response_headers_to_add), 0)
                client.ask("default", {"a": "b" * 3000})

                def is_rejected():
                    try:
                        client.ask("default", {"a": "b" * 3000})
                        return False
                    except grpc.RpcError as error:
                        return error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
                self.check_stays(daemon, listen % ("x-ratelimit", 1000), is_rejected)
                self.assertGreater(len(client.ask("default", {"a": "b"}).response_headers_to_add), 0)

    def test_listen_addresses_need_a_restart_and_the_rest_of_the_section_does_not(self):
        with Daemon("resp: {listen: '127.0.0.1:0'}\n" + DOMAINS) as daemon:
            reload(daemon, f"resp: {{listen: '127.0.0.1:{free_port()}', password: secret}}\n")
            daemon.wait_for_output(RESTART + ' settings="resp.listen"')
            def needs_password():
                with RespClient(daemon.resp_port) as client:
                    try:
                        return client.ask("PING") is None
                    except RuntimeError as error:
                        return "NOAUTH" in str(error)
            self.assertTrue(eventually(needs_password))


class Gateway(ReloadCase):
    def setUp(self):
        self.upstreams = [Upstream("one"), Upstream("two")]
        for each in self.upstreams:
            self.addCleanup(each.close)
        self.port = free_port()

    def settings(self, routes, more=""):
        one, two = (each.port for each in self.upstreams)
        return (f"gateway:\n  listen: 127.0.0.1:{self.port}\n  {more}\n  upstreams:\n"
                f"    a: {{servers: 'http://127.0.0.1:{one}'}}\n    b: {{servers: 'http://127.0.0.1:{two}'}}\n"
                f"  routes: {routes}\n")

    def get(self, path="/"):
        return ask(self.port, "GET", path)

    def test_routes_change_under_load_and_no_request_is_lost(self):
        with Daemon("server: {workers: 2}\n" + self.settings("[{upstream: a}]") + DOMAINS) as daemon:
            with RawClient(self.port) as client:
                self.assertEqual(client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").answer()[2], b"one")
                hammer = Hammer(lambda _: self.get()[::2])
                for turn in range(10):
                    reload(daemon, "server: {workers: 2}\n" + self.settings(f"[{{upstream: {'ba'[turn % 2]}}}]"))
                reload(daemon, "server: {workers: 2}\n" + self.settings("[{upstream: b}]"))
                self.assertTrue(eventually(lambda: (200, "two") in hammer.answers))
                answers = hammer.stop()
                self.assertEqual(set(answers), {(200, "one"), (200, "two")})
                self.assertEqual(client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").answer()[2], b"two")
            self.assertNotIn(RESTART, daemon.output)

    def test_an_upstream_and_its_metrics_come_and_go(self):
        with Daemon(self.settings("[{upstream: a}]") + DOMAINS) as daemon:
            third = Upstream("three")
            self.addCleanup(third.close)
            more = self.settings("[{path: /c, upstream: c}, {upstream: a}]").replace(
                "  upstreams:\n", f"  upstreams:\n    c: {{servers: 'http://127.0.0.1:{third.port}'}}\n")
            self.check_stays(daemon, more, lambda: self.get("/c").body == "three")
            self.assertEqual(self.get("/").body, "one")
            self.assertEqual(daemon.metric('penstock_upstream_requests_total{upstream="c",status="2xx"}'), 1)
            reload(daemon, self.settings("[{path: /x, upstream: a}]"))
            self.assertTrue(eventually(lambda: self.get("/c").status == 404))
            self.assertTrue(eventually(
                lambda: daemon.metric('penstock_upstream_healthy_servers{upstream="c"}') == 0))

    def test_path_rules_and_the_access_log_change(self):
        with Daemon(self.settings("[{upstream: a}]") + DOMAINS) as daemon:
            self.assertEqual(self.get("/a%2Fb").status, 400)
            log = daemon.folder / "access.log"
            self.check_stays(daemon, self.settings(
                "[{upstream: a}]", "paths: {escaped_slashes: keep}\n  access_log: {format: json, path: access.log}"),
                lambda: self.get("/a%2Fb").status == 200)
            self.assertTrue(eventually(lambda: "/a%2Fb" in log.read_text()))


class Process(ReloadCase):
    def test_level_and_format_of_the_log_change(self):
        with Daemon(DOMAINS) as daemon:
            reload(daemon, "log: {level: error}\n")
            reload(daemon, "log: {level: info, format: json}\n")
            daemon.wait_for_output('"message":"the configuration was reloaded"')
            self.assertNotIn("info the configuration was reloaded", daemon.output)
            reload(daemon, "log: {level: info}\n")
            daemon.wait_for_output("info the configuration was reloaded")

    def test_the_admin_port_moves_to_another_host(self):
        port = free_port()

        def answers(host):
            try:
                socket.create_connection((host, port), timeout=5).close()
                return True
            except OSError:
                return False
        with Daemon(f"server: {{admin: '127.0.0.1:{port}'}}\n" + DOMAINS, admin=()) as daemon:
            self.assertFalse(answers("127.0.0.2"))
            for host, is_reachable in (("0.0.0.0", True), ("127.0.0.1", False)):
                text = f"server: {{admin: '{host}:{port}'}}\n" + DOMAINS
                daemon.configuration.write_text(text, encoding="utf-8")
                daemon.signal(signal.SIGHUP)
                self.assertTrue(eventually(lambda: answers("127.0.0.2") == is_reachable))
                self.assertTrue(answers("127.0.0.1"))
            self.assertNotIn("not reloaded", daemon.output)

    def test_the_admin_port_moves(self):
        old, new = free_port(), free_port()
        with Daemon(f"server: {{admin: '127.0.0.1:{old}'}}\n" + DOMAINS, admin=()) as daemon:
            text = f"server: {{admin: '127.0.0.1:{new}'}}\n" + DOMAINS
            daemon.configuration.write_text(text, encoding="utf-8")
            daemon.signal(signal.SIGHUP)

            def answers(port):
                try:
                    return ask(port, "GET", "/healthz").status == 200
                except OSError:
                    return False
            self.assertTrue(eventually(lambda: answers(new)))
            self.assertTrue(eventually(lambda: not answers(old)))
            self.assertNotIn(RESTART, daemon.output)


@unittest.skipIf(shutil.which("redis-server") is None, "redis-server is not installed")
class Store(ReloadCase):
    def setUp(self):
        self.server = RedisServer()
        self.addCleanup(self.server.close)
        self.link = Link(self.server.port)
        self.addCleanup(self.link.close)

    def settings(self, more):
        return f"store: {{url: 'redis://127.0.0.1:{self.link.port}', {more}}}\nserver: {{workers: 1}}\n"

    @staticmethod
    def seconds(daemon):
        began = time.monotonic()
        status = daemon.ask("POST", "/v1/check", CHECK).status
        return time.monotonic() - began, status

    def test_the_timeout_of_store_calls_changes(self):
        slow = self.settings("timeout: 800ms, breaker_failures: 1000000")
        with Daemon(slow + DOMAINS) as daemon:
            self.assertTrue(eventually(lambda: self.seconds(daemon)[1] == 200))
            self.link.cut()
            self.assertGreater(self.seconds(daemon)[0], 0.7)
            reload(daemon, self.settings("timeout: 50ms, breaker_failures: 1000000"))
            self.assertTrue(eventually(lambda: 0.04 < self.seconds(daemon)[0] < 0.6))
            self.assertNotIn(RESTART, daemon.output)

    def test_the_circuit_breaker_changes(self):
        patient = self.settings("timeout: 100ms, breaker_failures: 1000000")
        with Daemon(patient + DOMAINS) as daemon:
            self.assertTrue(eventually(lambda: self.seconds(daemon)[1] == 200))
            self.link.cut()
            for _ in range(8):
                self.assertGreater(self.seconds(daemon)[0], 0.09)
            reload(daemon, self.settings("timeout: 100ms, breaker_failures: 2, breaker_min_pause: 20s, "
                                         "breaker_max_pause: 20s"))
            self.assertTrue(eventually(lambda: self.seconds(daemon)[0] < 0.05))
            daemon.wait_for_output("breaker open")
            self.assertNotIn(RESTART, daemon.output)

    def test_another_server_needs_a_restart_and_the_other_settings_do_not(self):
        with Daemon(self.settings("timeout: 1s") + DOMAINS) as daemon:
            self.assertTrue(eventually(lambda: self.seconds(daemon)[1] == 200))
            reload(daemon, "store: {url: 'redis://127.0.0.1:1', timeout: 2s}\nserver: {workers: 1}\n")
            daemon.wait_for_output(RESTART + ' settings="store.url"')
            self.assertEqual(self.seconds(daemon)[1], 200)


if __name__ == "__main__":
    unittest.main()
