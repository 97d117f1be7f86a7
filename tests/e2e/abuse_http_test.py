"""Cost of hostile HTTP API clients: CPU time, memory and connections."""

import json
import time
import unittest

from daemon import Daemon, eventually
from raw_client import RawClient
from usage import cpu_seconds, resident_bytes, raise_file_limit

CONFIGURATION = """
server:
  workers: 2
  max_body_bytes: 1048576
  token: sesame
  header_timeout: 1s
  body_timeout: BODY_TIMEOUT
  write_timeout: 1s
  trusted_proxies: [127.0.0.1]
  forward_auth: {domain: api}
domains:
  api:
    rules:
      - {name: pattern, when: {path: {regex: "^/(a|aa)+$"}}, key: [client_ip], limit: 1000000/h}
      - {name: all, limit: 1000000/h}
"""
TOKEN = {"Authorization": "Bearer sesame"}
# All calls that read JSON.
CALLS = ["/v1/check", "/v1/checks", "/v1/take", "/json", "/v1/explain", "/v1/keys/a/refund",
         "/v1/keys/a/block", "/v1/keys/a/unblock", "/v1/counters/n", "/v1/reserve", "/v1/commit",
         "/v1/cancel", "/v1/acquire", "/v1/renew", "/v1/release"]
MEGABYTE = 1 << 20
# Generous: a tenth of the worst cost when members were searched one by one. On an idle machine the
# worst takes about 20 ms, and these bodies are four times as long as the default allows.
MOST_CPU_SECONDS = 0.06
ROUNDS = 5


def serve(body_timeout="60s"):
    return Daemon(CONFIGURATION.replace("BODY_TIMEOUT", body_timeout))


def repeated(piece, size=MEGABYTE - 100):
    return ",".join([piece] * (size // (len(piece) + 1)))


def members(count):
    return "{" + ",".join(f'"{number:03x}":1' for number in range(count)) + "}"


HOSTILE = {
    "large objects": "[" + repeated(members(1000)) + "]",
    "objects of 100 members": "[" + repeated(members(100)) + "]",
    "checks of 100 members": '{"checks":[' + repeated(members(100)) + "]}",
    "small values": "[" + repeated("1") + "]",
    "empty objects": "[" + repeated("{}") + "]",
    "empty arrays in an unknown member": '{"x":[' + repeated("[]") + "]}",
    "an array for a number": '{"key":"a","limit":"5/m","cost":[' + repeated("1") + "]}",
    "a long text": '"' + "a" * (MEGABYTE - 2) + '"',
    "a long name": '{"' + "a" * (MEGABYTE - 6) + '":1}',
    "escapes": '"' + "\\u0041" * (MEGABYTE // 6 - 1) + '"',
    "a long number": "1" * MEGABYTE,
    "depth": "[" * MEGABYTE,
    "white space": " " * (MEGABYTE - 2) + "{}",
    "attributes": '[{"domain":"api","attributes":{'
                  + ",".join(f'"{number:x}":""' for number in range(100)) + "}}]",
    "just under the limit of one call": '{"domain":"api","attributes":' + members(100)
                                        + ',"x":[' + repeated("[]", 60_000) + "]}",
}


class JsonTest(unittest.TestCase):
    def cost_of(self, daemon, path, body, rounds=ROUNDS):
        before = cpu_seconds(daemon.pid)
        for _ in range(rounds):
            answer = daemon.ask("POST", path, body, TOKEN)
            self.assertIn(answer.status, (200, 400, 413), path)
        return (cpu_seconds(daemon.pid) - before) / rounds

    def test_hostile_bodies_cost_little_cpu_in_every_call(self):
        with serve() as daemon:
            worst = (0, "", "")
            for path in CALLS:
                for name, body in HOSTILE.items():
                    self.assertLessEqual(len(body), MEGABYTE)
                    cost = self.cost_of(daemon, path, body)
                    if cost > MOST_CPU_SECONDS:  # retry: the machine may be busy
                        cost = self.cost_of(daemon, path, body, 2 * ROUNDS)
                    worst = max(worst, (cost, path, name))
                    self.assertLess(cost, MOST_CPU_SECONDS, f"{path}: {name}")
            print(f"worst: {worst[0] * 1000:.0f} ms, {worst[1]}: {worst[2]}")

    def test_a_full_batch_is_answered(self):
        check = {"domain": "api", "attributes": {"path": "/x", "user": "a" * 500, "tier": "b"}}
        with serve() as daemon:
            answer = daemon.ask("POST", "/v1/checks", [check] * 1000)
            self.assertEqual(answer.status, 200)
            self.assertEqual(len(answer.body["answers"]), 1000)


class HeaderTest(unittest.TestCase):
    """A header is at most 16 KB; its cost must stay in proportion."""

    REQUESTS = {
        "parameters": ("GET", "/v1/keys/a?" + "a=b&" * 3500, {}),
        "encoded parameters": ("GET", "/v1/keys/a?limit=" + "%41" * 4500, {}),
        "segments": ("GET", "/a" * 7000, {}),
        "dots": ("GET", "/v1/forward-auth", {"X-Forwarded-Uri": "/a/.." * 2800}),
        "addresses": ("GET", "/v1/forward-auth", {"X-Forwarded-For": ",".join(["127.0.0.1"] * 1400)}),
        "a pattern": ("GET", "/v1/forward-auth", {"X-Forwarded-Uri": "/" + "a" * 14000 + "b"}),
        "fields": ("GET", "/v1/forward-auth", {f"X-{number}": "a" * 100 for number in range(90)}),
    }

    def test_long_headers_cost_little(self):
        with serve() as daemon:
            for name, (method, target, fields) in self.REQUESTS.items():
                before = cpu_seconds(daemon.pid)
                for _ in range(ROUNDS):
                    self.assertLess(daemon.ask(method, target, None, fields).status, 500, name)
                cost = (cpu_seconds(daemon.pid) - before) / ROUNDS
                self.assertLess(cost, MOST_CPU_SECONDS, name)


class MemoryTest(unittest.TestCase):
    CONNECTIONS = 200

    def test_memory_of_half_sent_bodies_is_returned(self):
        raise_file_limit(self, 2 * self.CONNECTIONS)
        start = (b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
                 + b"x" * 900_000)
        with serve() as daemon:
            daemon.ask("POST", "/v1/take", {"key": "a", "limit": "5/m"})
            before = resident_bytes(daemon.pid)
            for _ in range(3):  # an allocator may keep freed memory once
                peak = self.flood(daemon, before, start)
            # Sent bytes are in memory once, plus a read buffer.
            self.assertLess(peak - before, self.CONNECTIONS * 2_000_000)
            self.assertTrue(
                eventually(lambda: resident_bytes(daemon.pid) < before + 20_000_000, 40),
                f"{before} before, {peak} at the peak, {resident_bytes(daemon.pid)} after")

    def flood(self, daemon, before, start):
        """Peak memory while clients send this and disconnect."""
        clients = []
        try:
            for _ in range(self.CONNECTIONS):
                clients.append(RawClient(daemon.port).send(start))
            self.assertTrue(eventually(
                lambda: resident_bytes(daemon.pid) > before + self.CONNECTIONS * 700_000, 20))
            return resident_bytes(daemon.pid)
        finally:
            for client in clients:
                client.close()


class SlowTest(unittest.TestCase):
    def test_a_slow_client_is_counted_once(self):
        """It does not close either, so that the connection hits a second timeout."""
        series = 'penstock_listener_errors_total{listener="http",kind="timeout"}'
        with serve("1s") as daemon:
            with RawClient(daemon.port) as slow:
                slow.send(b"POST /v1/take HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
                self.assertEqual(slow.answer()[0], 408)
                self.assertTrue(eventually(lambda: daemon.metric(series) == 1))
                self.assertTrue(eventually(
                    lambda: daemon.metric('penstock_listener_connections{listener="http"}') == 0, 20))
                time.sleep(1.5)  # until the metrics are updated
                self.assertEqual(daemon.metric(series), 1)

    def test_a_client_that_never_reads_is_closed(self):
        check = {"domain": "api", "attributes": {"path": "/x"}}
        body = json.dumps([check] * 1000).encode()
        request = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        with serve() as daemon:
            daemon.ask("POST", "/v1/checks", [check] * 1000)
            before = resident_bytes(daemon.pid)
            with RawClient(daemon.port, timeout=20) as client:
                with self.assertRaises(OSError):  # reset after the close
                    for _ in range(2000):
                        client.send(request + body)
                        self.assertLess(resident_bytes(daemon.pid), before + 40_000_000)
            self.assertTrue(eventually(
                lambda: daemon.metric('penstock_listener_connections{listener="http"}') == 0))


if __name__ == "__main__":
    unittest.main()
