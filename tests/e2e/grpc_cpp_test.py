"""The gRPC listener with a grpc++ client: tests/grpc_client, named by PENSTOCK_GRPC_CLIENT."""

import os
import signal
import subprocess
import time
import unittest

from daemon import Daemon
from grpc_calls import HEALTH, RATE_LIMIT, Client, Messages, grpc_port
from grpc_test import rules
from redis_server import RedisServer
from server_process import require

CLIENT = os.environ.get("PENSTOCK_GRPC_CLIENT", "")
CANCELLED, DEADLINE_EXCEEDED, NOT_FOUND, RESOURCE_EXHAUSTED, UNAVAILABLE = (
    f"status{code}" for code in (1, 4, 5, 8, 14))


def setUpModule():
    if not CLIENT:
        raise unittest.SkipTest("PENSTOCK_GRPC_CLIENT names no client")


def run(port, scenario):
    """The words of its output."""
    result = subprocess.run([CLIENT, str(port), scenario], capture_output=True, encoding="utf-8", timeout=60,
                            check=True)
    return result.stdout.split()


def counts(words):
    return dict(zip(words[::2], map(int, words[1::2])))


class GrpcCppTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(rules())
        cls.addClassCleanup(cls.daemon.close)
        cls.port = grpc_port(cls.daemon)

    def test_admits_up_to_the_limit_and_denies_the_rest(self):
        self.assertEqual(" ".join(run(self.port, "decisions")),
                         "OK login 2 OK login 1 OK login 0 OVER_LIMIT login 0")

    def test_a_message_that_is_too_large_is_rejected_and_the_connection_stays_open(self):
        self.assertEqual(run(self.port, "mistakes"), [RESOURCE_EXHAUSTED, "OK"])

    def test_a_thousand_calls_at_once_are_counted_one_by_one(self):
        self.assertEqual(counts(run(self.port, "crowd")), {"OK": 500, "OVER_LIMIT": 500})

    def test_health(self):
        self.assertEqual(run(self.port, "health"), ["SERVING", NOT_FOUND, "SERVING"])

    def test_reflection(self):
        self.assertLessEqual({RATE_LIMIT, HEALTH}, set(run(self.port, "reflection")))


class HangingStoreTest(unittest.TestCase):
    def setUp(self):
        require("redis-server")
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)

    def test_deadlines_and_cancelled_calls_do_not_block_others(self):
        store = f"store: {{url: '{self.redis.url}', timeout: 10s, breaker_failures: 1000}}"
        with Daemon(rules(store=store)) as daemon:
            port = grpc_port(daemon)
            self.assertEqual(run(port, "decisions")[0], "OK")
            self.redis.signal(signal.SIGSTOP)
            self.addCleanup(self.redis.signal, signal.SIGCONT)
            start = time.monotonic()
            self.assertIn(run(port, "deadline"), ([DEADLINE_EXCEEDED], ["OK"]))
            self.assertLess(time.monotonic() - start, 8)  # far below the store timeout
            self.assertEqual(counts(run(port, "cancel")), {CANCELLED: 200})
            self.redis.signal(signal.SIGCONT)
            self.assertEqual(run(port, "decisions")[0], "OVER_LIMIT")

    def test_every_accepted_call_is_answered(self):
        store = f"store: {{url: '{self.redis.url}', timeout: 5s}}"
        with Daemon(rules(store=store)) as daemon:
            asking = subprocess.Popen([CLIENT, str(grpc_port(daemon)), "shutdown"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, encoding="utf-8")
            self.addCleanup(asking.kill)
            self.assertEqual(asking.stderr.readline().strip(), "in flight")
            daemon.signal(signal.SIGTERM)
            seen = counts(asking.communicate(timeout=30)[0].split())
            self.assertEqual(daemon.wait(), 0)
        self.assertLessEqual(set(seen), {"OK", UNAVAILABLE})
        messages = Messages()
        with Daemon(rules(store=store)) as daemon, Client(messages, grpc_port(daemon)) as client:
            (status,) = client.ask("edge", ({"route": "total"}, {"hits": 0})).statuses
        self.assertEqual(1_000_000 - status.limit_remaining, seen["OK"])


if __name__ == "__main__":
    unittest.main()
