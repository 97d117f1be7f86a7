"""Concurrency limits: permits over HTTP and RESP, and the gateway's limit shared by several daemons."""

import signal
import socket
import sys
import threading
import time
import unittest

from daemon import Daemon, ask, eventually
from redis_server import RedisServer, free_port
from resp_client import RespClient

PLAIN = """
resp: {listen: "127.0.0.1:0"}
domains: {api: {rules: [{name: all, limit: 1000000/s}]}}
"""
GATEWAY = """
domains: {{api: {{rules: [{{name: all, limit: 1000000/s}}]}}}}
store: {{url: "{store}", timeout: 1s}}
gateway:
  listen: 127.0.0.1:{port}
  domain: api
  max_in_flight: {{key: client_ip, limit: {limit}, shared: true, lease: {lease}}}
  upstreams: {{app: {{servers: ["http://127.0.0.1:{upstream}"]}}}}
  routes: [{{upstream: app}}]
"""


class Permits:
    """The tests, for any daemon that setUp() starts."""

    def post(self, call, body, status=200, daemon=None):
        answer = (daemon or self.daemon).ask("POST", f"/v1/{call}", body)
        self.assertEqual(answer.status, status, answer.body)
        return answer

    def acquire(self, status=200, **more):
        return self.post("acquire", {"key": "uploads", "limit": 2, "ttl": "1m", **more}, status)

    def test_no_more_permits_than_the_limit(self):
        first = self.acquire().body
        second = self.acquire(id="two").body
        self.assertEqual((first["in_use"], second["in_use"], second["id"]), (1, 2, "two"))
        denied = self.acquire(429)
        self.assertEqual((denied.body["in_use"], denied.body["limit"]), (2, 2))
        self.assertTrue(50_000 < denied.body["retry_after_ms"] <= 60_000)
        self.assertEqual(denied.fields["retry-after"], str(-(-denied.body["retry_after_ms"] // 1000)))
        self.assertTrue(self.post("release", {"key": "uploads", "id": first["id"]}).body["was_held"])
        self.acquire()

    def test_every_call_can_be_repeated(self):
        for _ in range(3):
            self.assertEqual(self.acquire(id="same").body["in_use"], 1)
        for _ in range(3):
            renewed = self.post("renew", {"key": "uploads", "id": "same", "ttl": "2m"}).body
            self.assertTrue(60_000 < renewed["expires_after_ms"] <= 120_000)
        held = [self.post("release", {"key": "uploads", "id": "same"}).body["was_held"]
                for _ in range(3)]
        self.assertEqual(held, [True, False, False])
        self.post("renew", {"key": "uploads", "id": "same"}, 404)

    def test_permits_expire(self):
        self.acquire(id="short", ttl="2s", limit=1)
        self.acquire(429, id="other", limit=1)
        self.assertTrue(eventually(
            lambda: self.daemon.ask("POST", "/v1/acquire",
                                    {"key": "uploads", "limit": 1, "id": "other"}).status == 200))
        self.post("renew", {"key": "uploads", "id": "short"}, 404)

    def test_permits_over_resp(self):
        with RespClient(self.daemon.resp_port) as client:
            reply = client.ask("PENSTOCK.ACQUIRE", "jobs", "a", 1, 60_000)
            self.assertEqual(reply[:4], [0, "a", 1, 1])
            self.assertEqual(reply[5], -1)
            denied = client.ask("PENSTOCK.ACQUIRE", "jobs", "*", 1, 60_000)
            self.assertEqual(denied[:5], [1, None, 1, 1, -1])
            self.assertTrue(0 < denied[5] <= 60_000)
            self.assertTrue(100_000 < client.ask("PENSTOCK.RENEW", "jobs", "a", 120_000) <= 120_000)
            self.assertEqual([client.ask("PENSTOCK.RELEASE", "jobs", "a") for _ in range(2)], [1, 0])
            self.assertEqual(client.ask("PENSTOCK.RENEW", "jobs", "a", 1000), -1)


class Embedded(Permits, unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(PLAIN)
        self.addCleanup(self.daemon.close)


class Shared(Permits, unittest.TestCase):
    def setUp(self):
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)
        self.configuration = PLAIN + f"store: {{url: \"{self.redis.url}\", timeout: 1s}}\n"
        self.daemon = Daemon(self.configuration)
        self.addCleanup(self.daemon.close)

    def tearDown(self):
        for key in self.redis.keys():
            self.assertNotEqual(self.redis.call("PTTL", key), -1, key)

    def test_two_daemons_share_permits(self):
        with Daemon(self.configuration) as other:
            self.acquire(id="a")
            body = {"key": "uploads", "limit": 2, "id": "b"}
            self.post("acquire", body, daemon=other)
            self.acquire(429, id="c")
            self.post("release", {"key": "uploads", "id": "a"}, daemon=other)
            self.acquire(id="c")


class SlowServer:
    """Answers on request of the test."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.release = threading.Event()
        self.asked = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            connection.settimeout(60)
            try:
                while connection.recv(65536):
                    self.asked += 1
                    self.release.wait(60)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            except OSError:
                pass

    def close(self):
        self.release.set()
        self._socket.close()


class Gateways(unittest.TestCase):
    def setUp(self):
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)
        self.upstream = SlowServer()
        self.addCleanup(self.upstream.close)

    def gateway(self, limit=3, lease="30s"):
        port = free_port()
        daemon = Daemon(GATEWAY.format(store=self.redis.url, port=port, limit=limit, lease=lease,
                                       upstream=self.upstream.port))
        daemon.gateway_port = port
        self.addCleanup(daemon.close)
        return daemon

    def begin(self, *daemons):
        """Starts a request to each, which waits; returns the list that receives their statuses."""
        answers = []

        def run(port):
            try:
                answers.append(ask(port, "GET", "/").status)
            except OSError:
                answers.append(0)

        before = self.upstream.asked
        for daemon in daemons:
            threading.Thread(target=run, args=(daemon.gateway_port,), daemon=True).start()
        self.assertTrue(eventually(lambda: self.upstream.asked == before + len(daemons)))
        return answers

    def test_two_daemons_share_one_limit(self):
        one, two = self.gateway(), self.gateway()
        answers = self.begin(one, two, one)
        for daemon in (one, two):
            denied = ask(daemon.gateway_port, "GET", "/")
            self.assertEqual(denied.status, 429)
            self.assertEqual(denied.fields["retry-after"], "1")
        self.upstream.release.set()
        self.assertTrue(eventually(lambda: answers == [200] * 3))
        self.assertTrue(eventually(lambda: not any(":s:" in key for key in self.redis.keys())))
        self.assertEqual(ask(two.gateway_port, "GET", "/").status, 200)

    def test_permits_of_a_killed_daemon_expire(self):
        one, two = self.gateway(limit=2, lease="3s"), self.gateway(limit=2, lease="3s")
        self.begin(one, one)
        time.sleep(4)  # longer than the lease: it is renewed
        self.assertEqual(ask(two.gateway_port, "GET", "/").status, 429)
        one.signal(signal.SIGKILL)
        one.wait()
        self.assertEqual(ask(two.gateway_port, "GET", "/").status, 429)
        self.upstream.release.set()
        self.assertTrue(eventually(lambda: ask(two.gateway_port, "GET", "/").status == 200))

    def test_a_client_that_disconnects_releases_its_permit(self):
        one, two = self.gateway(limit=1), self.gateway(limit=1)
        with socket.create_connection(("127.0.0.1", one.gateway_port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertTrue(eventually(lambda: self.upstream.asked == 1))
            self.assertEqual(ask(two.gateway_port, "GET", "/").status, 429)
        self.upstream.release.set()
        self.assertTrue(eventually(lambda: ask(two.gateway_port, "GET", "/").status == 200))

    def test_without_the_store_each_daemon_has_its_own_limit(self):
        one, two = self.gateway(limit=1), self.gateway(limit=1)
        self.redis.stop()
        answers = self.begin(one, two)
        for daemon in (one, two):
            self.assertEqual(ask(daemon.gateway_port, "GET", "/").status, 429)
            self.assertGreaterEqual(daemon.metric("penstock_gateway_local_fallback_total"), 1)
        self.upstream.release.set()
        self.assertTrue(eventually(lambda: answers == [200] * 2))


if __name__ == "__main__":
    sys.exit(unittest.main())
