"""penstock bench against daemons and against misbehaving servers: its counts are correct."""

import json
import os
import re
import socket
import socketserver
import subprocess
import threading
import time
import unittest

from daemon import PROGRAM, Daemon, eventually

FINE, BAD_INPUT, UNAVAILABLE = 0, 2, 3
CONFIGURATION = """
grpc: {listen: 127.0.0.1:0}
resp: {listen: 127.0.0.1:0}
domains:
  api:
    rules:
      - {name: everyone, limit: 1000000000/s}
      - {name: user, key: [user], limit: 10/day, algorithm: anchored_window}
"""
KEYS = 20
# More per second than the limits of all keys allow.
RATE = 1000


def run(*arguments):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    return subprocess.run(
        [PROGRAM, "bench", *arguments], env=clean, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def port_of(daemon, scheme):
    found = []

    def look():
        found.extend(re.findall(rf"listening on {scheme}://[^ ]*:(\d+)", daemon.output))
        return bool(found)

    if not eventually(look):
        raise AssertionError(f"no listener for {scheme}:\n" + daemon.output)
    return int(found[0])


class ThrottleServer:
    """Allows every CL.THROTTLE; `before_answer` may block."""

    def __init__(self, before_answer=lambda: None):
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while self.rfile.readline():
                    for _ in range(10):  # five words, each with its length
                        self.rfile.readline()
                    outer.before_answer()
                    self.wfile.write(b"*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:1\r\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.before_answer = before_answer
        self._server = Server(("127.0.0.1", 0), Handler)
        self.address = "127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class Bench(unittest.TestCase):
    def report(self, *arguments):
        result = run(*arguments, "--json")
        self.assertEqual(result.returncode, FINE, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(
            report["answered"], report["allowed"] + report["denied"], result.stdout)
        self.assertLessEqual(report["p50_us"], report["p99_us"])
        self.assertLessEqual(report["p99_us"], report["max_us"])
        return report


class OnDaemon(Bench):
    def setUp(self):
        self.daemon = Daemon(CONFIGURATION)  # all tests use the same keys
        self.addCleanup(self.daemon.close)
        self.servers = {
            "http": f"127.0.0.1:{self.daemon.port}",
            "grpc": f"127.0.0.1:{port_of(self.daemon, 'grpc')}",
            "resp": f"127.0.0.1:{port_of(self.daemon, 'redis')}",
        }

    def measure(self, listener, *arguments):
        return self.report(listener, self.servers[listener], "--time", "1s", *arguments)

    def expect_exact(self, report, per_key):
        self.assertEqual(report["failed"], 0, report)
        self.assertEqual(report["over_admitted"], 0)
        self.assertEqual(report["answered"], RATE)
        self.assertEqual(report["allowed"], KEYS * per_key)

    def test_counts_admissions_over_http(self):
        self.expect_exact(
            self.measure("http", "--limit", "7/day anchored_window", "--keys", str(KEYS),
                         "--rate", str(RATE)), 7)

    def test_counts_admissions_over_grpc(self):
        self.expect_exact(
            self.measure("grpc", "--domain", "api", "--limit", "8/day", "--keys", str(KEYS),
                         "--rate", str(RATE)), 8)

    def test_counts_admissions_over_resp(self):
        self.expect_exact(
            self.measure("resp", "--limit", "1/day burst 9", "--keys", str(KEYS),
                         "--rate", str(RATE)), 9)

    def test_grpc_requests_are_limited_by_rules(self):
        report = self.measure(
            "grpc", "--domain", "api", "--limit", "rules", "--descriptor", "user={key}",
            "--descriptor", "path=/", "--keys", str(KEYS), "--rate", str(RATE))
        self.assertEqual(report["allowed"], KEYS * 10)
        self.assertNotIn("over_admitted", report)

    def test_rate_zero_sends_as_fast_as_answers_arrive(self):
        for listener, more in (("http", []), ("grpc", ["--domain", "api", "--streams", "8"]),
                           ("resp", ["--pipeline", "8"])):
            with self.subTest(listener):
                report = self.measure(
                    listener, "--connections", "2", "--server-pid", str(self.daemon.pid), *more)
                self.assertEqual(report["failed"], 0, report)
                self.assertEqual(report["over_admitted"], 0)
                self.assertGreater(report["answered"], 1000)
                self.assertGreater(report["server_cpu_us_per_request"], 0)

    def test_shows_the_servers_error(self):
        result = run("grpc", self.servers["grpc"], "--domain", "", "--time", "100ms", "--rate", "10",
                     "--json")
        report = json.loads(result.stdout)
        self.assertEqual(report["failed"], 1)
        self.assertIn("domain", report["first_failure"])

    def test_prints_a_readable_table(self):
        result = run("resp", self.servers["resp"], "--time", "100ms")
        self.assertEqual(result.returncode, FINE, result.stderr)
        for word in ("requests per second", "p99.9 us", "over-admitted"):
            self.assertIn(word, result.stdout)


class OnOtherServers(Bench):
    def test_detects_a_server_that_admits_too_much(self):
        with ThrottleServer() as server:
            report = self.report("resp", server.address, "--limit", "2/day", "--keys", "1",
                                 "--rate", "100", "--time", "1s")
        self.assertEqual(report["allowed"], 100)
        self.assertEqual(report["over_admitted"], 98)

    def test_latency_includes_requests_delayed_by_a_stall(self):
        stall, asked = 0.5, []

        def stall_once():
            asked.append(1)
            if len(asked) == 20:
                time.sleep(stall)

        with ThrottleServer(stall_once) as server:
            report = self.report("resp", server.address, "--connections", "1", "--pipeline", "1",
                                 "--rate", "100", "--time", "1s")
        # Requests due during the stall wait for its end: half of all, a quarter of a second on
        # average.
        self.assertGreater(report["p90_us"], 1e6 * stall * 0.5)
        self.assertGreater(report["max_us"], 1e6 * stall * 0.9)

    def test_counts_requests_without_an_answer_as_failed(self):
        with ThrottleServer(lambda: time.sleep(60)) as server:
            report = self.report("resp", server.address, "--connections", "2", "--rate", "20",
                                 "--time", "500ms")
        self.assertEqual(report["answered"], 0)
        self.assertEqual(report["failed"], 10)
        self.assertEqual(report["first_failure"], "no response in time")

    def test_reports_a_refused_connection(self):
        for listener in ("http", "grpc", "resp"):
            with self.subTest(listener):
                result = run(listener, f"127.0.0.1:{free_port()}", "--time", "100ms")
                self.assertEqual(result.returncode, UNAVAILABLE)
                self.assertIn("Connection refused", result.stderr)

    def test_rejects_limits_that_a_protocol_cannot_express(self):
        for arguments, word in (
            (("grpc", "--limit", "10/5m"), "cannot be sent"),
            (("grpc", "--limit", "10/s burst 5"), "cannot be sent"),
            (("resp", "--limit", "10/s fixed_window"), "bucket"),
            (("resp", "--limit", "10/1500ms"), "whole seconds"),
            (("grpc", "--descriptor", "user"), "NAME=VALUE"),
        ):
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, BAD_INPUT)
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
