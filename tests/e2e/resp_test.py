"""The RESP listener: redis-cli, redis-py, redis-benchmark and ioredis against the built program, with state in memory
and in Redis."""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

try:
    import redis
except ImportError:  # a package of Debian's Python
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import redis
    except ImportError:
        redis = None

from daemon import PROGRAM, SOURCE_DIR, Daemon, eventually
from npm_packages import install_packages
from redis_server import RedisServer
from resp_client import RespClient
from server_process import require

CONFIGURATION = """
server: {workers: 2}
resp: {listen: "127.0.0.1:0"}
STORE
domains:
  api:
    rules:
      - {name: search, when: {path: /search}, key: [user], limit: 2/h, on_failure: closed}
      - {name: open, when: {path: /open}, limit: 5/h}
"""


def serve(store="", extra=""):
    return Daemon(CONFIGURATION.replace("STORE", store) + extra)


def redis_cli(port, *words):
    result = subprocess.run(
        ["redis-cli", "-p", str(port), *words], capture_output=True, encoding="utf-8", timeout=20,
        check=False,
    )
    return result.stdout.splitlines()


class Contract:
    """Tests for any store; subclasses set `daemon` and `client`."""

    def test_limits_in_commands_are_counted_as_decisions(self):
        def taken():
            return {outcome: self.daemon.metric(
                f'penstock_decisions_total{{domain="take",outcome="{outcome}",rule="take"}}') or 0
                    for outcome in ("allowed", "denied")}

        def is_counted():
            now = taken()
            return (now["allowed"] >= before["allowed"] + 2
                    and now["denied"] >= before["denied"] + 1)

        before = taken()
        for _ in range(2):
            self.client.execute_command("CL.THROTTLE", "counted", 0, 1, 3600)
        for _ in range(20):  # a peek is not a decision
            self.client.execute_command("CL.THROTTLE", "counted", 0, 1, 3600, 0)
        self.client.execute_command("THROTTLE", "also counted", 1, 1, 3600)
        self.assertTrue(eventually(is_counted), taken())
        self.assertLess(taken()["denied"], before["denied"] + 20)
        self.assertTrue(eventually(lambda: any(
            entry["subject"] == "also counted"
            for entry in self.daemon.admin("/top?n=1000")[2]["entries"])))

    def test_cl_throttle_answers_like_redis_cell(self):
        self.assertEqual(redis_cli(self.daemon.resp_port, "CL.THROTTLE", "cli", "15", "30", "60"),
                         ["0", "16", "15", "-1", "2"])
        throttle = lambda *more: self.client.execute_command("CL.THROTTLE", "py", 2, 1, 3600, *more)
        self.assertEqual([throttle()[0] for _ in range(5)], [0, 0, 0, 1, 1])
        limited, limit, remaining, retry_after, reset_after = throttle()
        self.assertEqual((limited, limit, remaining), (1, 3, 0))
        self.assertTrue(3590 <= retry_after <= 3600 and 10790 <= reset_after <= 10800)
        self.assertEqual(throttle(0)[:3], [0, 3, 0])
        self.assertEqual(throttle(-1)[:3], [0, 3, 1])
        self.assertEqual(throttle(4)[3], -1)

    def test_pipelines_admit_exactly_the_limit(self):
        pipeline = self.client.pipeline(transaction=False)
        for _ in range(300):
            pipeline.execute_command("CL.THROTTLE", "crowd", 99, 1, 86400)
        answers = pipeline.execute()
        self.assertEqual([answer[0] for answer in answers], [0] * 100 + [1] * 200)

    def test_a_transaction_charges_once_and_answers_in_order(self):
        pipeline = self.client.pipeline()  # in MULTI and EXEC by default
        for _ in range(5):
            pipeline.execute_command("CL.THROTTLE", "queue", 2, 1, 3600)
        pipeline.incr("in order")
        answers = pipeline.execute()
        self.assertEqual([answer[0] for answer in answers[:5]], [0, 0, 0, 1, 1])
        self.assertEqual(answers[5], 1)
        peek = self.client.execute_command("CL.THROTTLE", "queue", 2, 1, 3600, 0)
        self.assertEqual(peek[:3], [0, 3, 0])

    def test_a_transaction_that_fails_charges_nothing(self):
        pipeline = self.client.pipeline()
        pipeline.execute_command("CL.THROTTLE", "failed", 2, 1, 3600)
        pipeline.execute_command("NOPE")
        with self.assertRaisesRegex(redis.ResponseError, "unknown command 'NOPE'"):
            pipeline.execute()
        peek = self.client.execute_command("CL.THROTTLE", "failed", 2, 1, 3600, 0)
        self.assertEqual(peek[:3], [0, 3, 3])
        with self.assertRaisesRegex(redis.ResponseError, "WATCH is not supported"):
            self.client.transaction(lambda pipe: pipe.incr("watched"), "watched")
        self.assertTrue(self.client.ping())

    def test_rules_decide_over_resp_as_over_http(self):
        check = lambda: self.client.execute_command(
            "PENSTOCK.CHECK", "api", "path", "/search", "user", "alice")
        self.assertEqual(check()[:3], [0, 2, 1])
        body = {"domain": "api", "attributes": {"path": "/search", "user": "alice"}}
        self.assertEqual(self.daemon.ask("POST", "/v1/check", body).body["remaining"], 0)
        answer = check()
        self.assertEqual(answer[0], 1)
        self.assertEqual(answer[5:], [b"api/search", b"over_limit"])

    def test_counters_are_shared_with_the_http_api(self):
        client = self.client
        self.assertEqual(client.incr("visits"), 1)
        self.assertEqual(client.incrby("visits", 9), 10)
        self.assertEqual(client.decr("visits", 3), 7)
        self.assertEqual(self.daemon.ask("GET", "/v1/counters/visits").body["integer"], 7)
        self.assertEqual(client.incrbyfloat("spent", 0.25), 0.25)
        self.assertEqual(client.get("spent"), b"0.25")
        self.assertEqual(client.ttl("visits"), -1)
        self.assertTrue(client.expire("visits", 100))
        self.assertTrue(98 <= client.ttl("visits") <= 100)
        self.assertTrue(98_000 <= client.pttl("visits") <= 100_000)
        self.assertEqual(client.exists("visits", "spent", "nothing"), 2)
        self.assertEqual(client.delete("visits", "spent"), 2)
        self.assertIsNone(client.get("visits"))
        self.assertEqual(client.ttl("visits"), -2)

    def test_a_counter_expires_after_its_ttl(self):
        self.client.incr("short")
        self.assertTrue(self.client.pexpire("short", 50))
        self.assertTrue(eventually(lambda: self.client.get("short") is None))
        self.assertEqual(self.client.incr("short"), 1)

    def test_errors_name_the_mistake(self):
        for command, text in (
            (("CLUSTER", "SLOTS"), "This instance has cluster support disabled"),
            (("READONLY",), "This instance has cluster support disabled"),
            (("SELECT", 1), "DB index is out of range"),
            (("CLIENT", "TRACKING", "ON"), "client-side caching is not supported"),
            (("CL.THROTTLE", "k", 1, 0, 1), "Zero rates are not supported"),
            (("CL.THROTTLE", "k", "x", 1, 1), "Couldn't parse as integer: x"),
            (("NOPE", "a"), "unknown command 'NOPE'"),
            (("GET",), "wrong number of arguments for 'get' command"),
        ):
            with self.assertRaisesRegex(redis.ResponseError, re.escape(text)):
                self.client.execute_command(*command)

    def test_redis_benchmark_runs(self):
        require("redis-benchmark")
        result = subprocess.run(
            ["redis-benchmark", "-p", str(self.daemon.resp_port), "-n", "20000", "-P", "32", "-c",
             "10", "-q", "CL.THROTTLE", "bench", "100", "1", "86400"],
            capture_output=True, encoding="utf-8", timeout=60, check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("requests per second", result.stdout)
        answer = self.client.execute_command("CL.THROTTLE", "bench", 100, 1, 86400, 0)
        self.assertEqual(answer[2], 0)


@unittest.skipIf(redis is None, "redis-py is not installed")
class MemoryTest(Contract, unittest.TestCase):
    def setUp(self):
        require("redis-cli")
        self.daemon = serve()
        self.addCleanup(self.daemon.close)
        self.client = redis.Redis(port=self.daemon.resp_port)
        self.addCleanup(self.client.close)

    def test_the_listener_metrics_count_requests(self):
        self.client.ping()
        answered = 'penstock_listener_requests_total{listener="resp",status="2xx"}'
        self.assertTrue(eventually(lambda: self.daemon.metric(answered) == 1))
        self.assertEqual(self.daemon.metric('penstock_listener_connections{listener="resp"}'), 1)


@unittest.skipIf(redis is None, "redis-py is not installed")
class RedisTest(Contract, unittest.TestCase):
    def setUp(self):
        require("redis-cli", "redis-server")
        self.server = RedisServer()
        self.addCleanup(self.server.close)
        self.daemon = serve(f"store: {{url: {self.server.url}, timeout: 2s}}")
        self.addCleanup(self.daemon.close)
        self.client = redis.Redis(port=self.daemon.resp_port)
        self.addCleanup(self.client.close)

    def test_many_connections_admit_exactly_the_limit(self):
        admitted = []

        def crowd():
            client = redis.Redis(port=self.daemon.resp_port)
            pipeline = client.pipeline(transaction=False)
            for _ in range(200):
                pipeline.execute_command("CL.THROTTLE", "shared", 249, 1, 86400)
            admitted.append(sum(answer[0] == 0 for answer in pipeline.execute()))
            client.close()

        threads = [threading.Thread(target=crowd) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(admitted), 250)

    def test_every_key_has_a_ttl(self):
        self.client.execute_command("CL.THROTTLE", "k", 5, 5, 60)
        self.client.incr("n")
        self.client.incrbyfloat("n", 1.5)
        self.client.expire("n", 60)
        for key in self.server.keys():
            if not key.startswith("penstock:1:n:"):
                self.assertGreater(self.server.call("PTTL", key), 0, key)

    def test_an_unavailable_store_is_an_error_and_rules_apply_their_policy(self):
        self.client.ping()
        self.server.stop()
        with self.assertRaisesRegex(redis.ResponseError, "store unavailable"):
            self.client.execute_command("CL.THROTTLE", "k", 5, 5, 60)
        with self.assertRaisesRegex(redis.ResponseError, "store unavailable"):
            self.client.incr("n")
        closed = self.client.execute_command("PENSTOCK.CHECK", "api", "path", "/search", "user", "x")
        self.assertEqual((closed[0], closed[6]), (1, b"failed_closed"))
        opened = self.client.execute_command("PENSTOCK.CHECK", "api", "path", "/open")
        self.assertEqual((opened[0], opened[6]), (0, b"failed_open"))


class StartTest(unittest.TestCase):
    def test_listening_beyond_loopback_needs_a_password(self):
        folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "penstock.yaml").write_text("resp: {listen: '0.0.0.0:0'}\n", encoding="utf-8")
        result = subprocess.run(
            [PROGRAM, "serve", "--config", str(folder / "penstock.yaml"), "--listen", "127.0.0.1:0",
             "--admin", "127.0.0.1:0"],
            capture_output=True, encoding="utf-8", timeout=20, check=False,
        )
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("0.0.0.0:0", result.stderr)
        self.assertIn("resp.password", result.stderr)

    @unittest.skipIf(redis is None, "redis-py is not installed")
    def test_the_password_is_required(self):
        text = CONFIGURATION.replace("STORE", "").replace(
            'listen: "127.0.0.1:0"', 'listen: "127.0.0.1:0", password: sesame')
        with Daemon(text) as daemon:
            with self.assertRaises(redis.AuthenticationError):
                redis.Redis(port=daemon.resp_port).ping()
            with self.assertRaisesRegex(redis.ResponseError, "WRONGPASS"):
                redis.Redis(port=daemon.resp_port, password="wrong").ping()
            for user in (None, "default"):
                client = redis.Redis(port=daemon.resp_port, username=user, password="sesame")
                self.assertTrue(client.ping())
                client.close()

    def test_the_example_works(self):
        require("redis-cli")
        text = (SOURCE_DIR / "examples" / "resp" / "penstock.yaml").read_text(encoding="utf-8")
        with Daemon(text.replace("127.0.0.1:6380", "127.0.0.1:0")) as daemon:
            self.assertEqual(redis_cli(daemon.resp_port, "CL.THROTTLE", "user:7", "15", "30", "60"),
                             ["0", "16", "15", "-1", "2"])
            reply = redis_cli(daemon.resp_port, "PENSTOCK.CHECK", "api", "path", "/v1/search",
                             "user", "7")
            self.assertEqual(reply[:3] + reply[5:], ["0", "16", "15", "api/search", "within_limits"])

    def test_a_stop_answers_commands_that_were_sent(self):
        daemon = serve()
        self.addCleanup(daemon.close)
        with socket.create_connection(("127.0.0.1", daemon.resp_port), timeout=10) as connection:
            connection.sendall(b"PING\r\n" * 1000)
            read = b""
            while len(read) < 7000:
                read += connection.recv(65536)
            daemon.signal(15)
            self.assertEqual(connection.recv(1), b"")
        self.assertEqual(daemon.wait(), 0)


class StoreUnavailableTest(unittest.TestCase):
    """Limits in the request follow request_limits.on_failure while Redis is down."""

    def daemon(self, settings):
        server = RedisServer()
        self.addCleanup(server.close)
        daemon = serve(f"store: {{url: '{server.url}'}}", settings)
        self.addCleanup(daemon.close)
        client = RespClient(daemon.resp_port)
        self.addCleanup(client.close)
        self.assertTrue(eventually(lambda: self.replies(client, "CL.THROTTLE", "warm", 9, 1, 60, 0)))
        server.stop()
        return daemon, client

    @staticmethod
    def replies(client, *words):
        try:
            return client.ask(*(str(word) for word in words))
        except RuntimeError:
            return None

    def test_by_default_the_reply_is_an_error(self):
        for settings in ("", "request_limits: {on_failure: error}\n"):
            daemon, client = self.daemon(settings)
            for command in ("CL.THROTTLE", "THROTTLE"):
                with self.assertRaisesRegex(RuntimeError, "ERR store unavailable"):
                    client.ask(command, "k", "15", "30", "60")
            self.assertEqual(daemon.ask("POST", "/v1/take", {"key": "k", "limit": "5/h"}).status, 503)

    def test_the_policy_answers(self):
        expected = {"open": ([0, 16, 16, -1, 0], [1, 16, 16, 28, 0], 200, "failed_open"),
                    "closed": ([1, 16, 0, 1, 1], [0, 16, 0, 29, 1], 503, "failed_closed")}
        for policy, (cell, crab, status, reason) in expected.items():
            with self.subTest(policy=policy):
                daemon, client = self.daemon(f"request_limits: {{on_failure: {policy}}}\n")
                series = f'penstock_requests_total{{domain="take",reason="{reason}"}}'
                before = daemon.metric(series)
                self.assertEqual(client.ask("CL.THROTTLE", "k", "15", "30", "60"), cell)
                self.assertEqual(client.ask("THROTTLE", "k", "16", "30", "60"), crab)
                answer = daemon.ask("POST", "/v1/take", {"key": "k", "limit": "5/h"})
                self.assertEqual(answer.status, status)
                self.assertEqual(daemon.metric(series), before + 3)
                daemon.wait_for_output(f'reason="{reason}"')
                other = daemon.ask("POST", "/v1/take", {"key": "k", "limit": "5/h",
                                                        "on_failure": "local"})
                self.assertEqual(other.body["reason"], "decided_locally")

    def test_the_local_fallback_enforces_the_limit(self):
        daemon, client = self.daemon("request_limits: {on_failure: local}\nnodes: 1\n")
        replies = [client.ask("CL.THROTTLE", "k", "4", "1", "3600") for _ in range(8)]
        self.assertEqual([reply[0] for reply in replies], [0] * 5 + [1] * 3)
        statuses = [daemon.ask("POST", "/v1/take", {"key": "j", "limit": "5/h"}).status
                    for _ in range(8)]
        self.assertEqual(statuses, [200] * 5 + [429] * 3)


class NodeTest(unittest.TestCase):
    """Node client libraries, from the npm package of tests/interop."""

    def setUp(self):
        self.folder = install_packages()

    def run_node(self, program):
        with serve() as daemon:
            run = subprocess.run(
                ["node", program, str(daemon.resp_port)], cwd=self.folder, capture_output=True,
                encoding="utf-8", timeout=60, check=False,
            )
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_ioredis_and_node_redis_work(self):
        said = self.run_node("resp_client.mjs")
        self.assertEqual(said["throttle"], [0, 16, 15, -1, 2])
        self.assertEqual(said["crowd"], 10)
        self.assertEqual(said["check"], [0, 2, 1])
        self.assertEqual(said["counter"], [1, 11, "11", 1])
        self.assertEqual(said["multi"], [[None, 1], [None, [0, 3, 2]], [None, 3]])
        said = self.run_node("node_redis_client.mjs")
        self.assertEqual((said["multi2"], said["multi3"]), ([1, 3], [1, 3]))
        self.assertIn("DB index is out of range", said["database"])
        self.assertIn("cluster support disabled", said["readonly"])
        self.assertIn("client-side caching is not supported", said["caching"])


if __name__ == "__main__":
    unittest.main()
