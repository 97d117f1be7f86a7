"""The gRPC listener with another client implementation: the npm package @grpc/grpc-js."""

import json
import signal
import subprocess
import unittest

from daemon import Daemon
from grpc_calls import HEALTH, RATE_LIMIT, Client, Messages, descriptor_set, grpc_port
from grpc_test import rules
from npm_packages import INTEROP, install_packages
from redis_server import RedisServer
from server_process import require


def setUpModule():
    descriptors = descriptor_set()
    Node.folder = install_packages(INTEROP / "grpc")
    Node.descriptors = Node.folder / "descriptors"
    Node.descriptors.write_bytes(descriptors)


class Node:
    folder = None
    descriptors = None

    @classmethod
    def command(cls, port, scenario):
        return ["node", str(cls.folder / "grpc_calls.mjs"), str(cls.descriptors), str(port), scenario]

    @classmethod
    def run(cls, port, scenario):
        """The outcomes of the scenario."""
        result = subprocess.run(
            cls.command(port, scenario), cwd=cls.folder, capture_output=True, encoding="utf-8", timeout=60,
            check=False,
        )
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        return json.loads(result.stdout)


class GrpcJsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(rules())
        cls.addClassCleanup(cls.daemon.close)
        cls.port = grpc_port(cls.daemon)

    def run_scenario(self, scenario):
        return Node.run(self.port, scenario)

    def test_admits_up_to_the_limit_and_denies_the_rest(self):
        seen = self.run_scenario("decisions")
        self.assertEqual(seen["codes"], ["OK", "OK", "OK", "OVER_LIMIT"])
        (status,) = seen["first"]["statuses"]
        self.assertEqual(status["current_limit"], {"requests_per_unit": 3, "unit": "HOUR", "name": "login"})
        self.assertEqual(status["limit_remaining"], 2)
        (status,) = seen["last"]["statuses"]
        self.assertEqual(status["code"], "OVER_LIMIT")
        self.assertTrue(1 <= status["duration_until_reset"]["seconds"] <= 1200)
        names = [field["key"].lower() for field in seen["last"]["response_headers_to_add"]]
        self.assertIn("retry-after", names)

    def test_has_a_status_for_each_descriptor(self):
        statuses = self.run_scenario("descriptors")["statuses"]
        self.assertEqual([status["code"] for status in statuses], ["OK", "OK"])
        self.assertIsNone(statuses[0]["current_limit"])

    def test_errors_have_their_codes_and_the_connection_stays_open(self):
        self.assertEqual(self.run_scenario("mistakes"), ["UNKNOWN", "RESOURCE_EXHAUSTED", "OK"])

    def test_a_thousand_calls_at_once_are_counted_one_by_one(self):
        self.assertEqual(self.run_scenario("crowd"), {"OK": 500, "OVER_LIMIT": 500})

    def test_health(self):
        self.assertEqual(self.run_scenario("health"),
                         {"all": "SERVING", "unknown": "NOT_FOUND", "watched": "SERVING"})

    def test_reflection(self):
        self.assertLessEqual({RATE_LIMIT, HEALTH}, set(self.run_scenario("reflection")))


class HangingStoreTest(unittest.TestCase):
    def setUp(self):
        require("redis-server")
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)

    def test_deadlines_and_cancelled_calls_do_not_block_others(self):
        store = f"store: {{url: '{self.redis.url}', timeout: 10s, breaker_failures: 1000}}"
        with Daemon(rules(store=store)) as daemon:
            port = grpc_port(daemon)
            self.assertEqual(Node.run(port, "descriptors")["overall_code"], "OK")
            self.redis.signal(signal.SIGSTOP)
            self.addCleanup(self.redis.signal, signal.SIGCONT)
            late = Node.run(port, "deadline")
            self.assertIn(late["outcome"], ("DEADLINE_EXCEEDED", "OK"))
            self.assertLess(late["took"], 8000)  # far below the store timeout
            self.assertEqual(Node.run(port, "cancel"), {"CANCELLED": 200})
            self.redis.signal(signal.SIGCONT)
            self.assertEqual(Node.run(port, "decisions")["codes"], ["OK", "OK", "OK", "OVER_LIMIT"])

    def test_every_accepted_call_is_answered(self):
        store = f"store: {{url: '{self.redis.url}', timeout: 5s}}"
        with Daemon(rules(store=store)) as daemon:
            asking = subprocess.Popen(
                Node.command(grpc_port(daemon), "shutdown"), cwd=Node.folder, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, encoding="utf-8",
            )
            self.addCleanup(asking.kill)
            self.assertEqual(asking.stderr.readline().strip(), "in flight")
            daemon.signal(signal.SIGTERM)
            seen, _ = asking.communicate(timeout=30)
            self.assertEqual(daemon.wait(), 0)
        seen = json.loads(seen)
        self.assertLessEqual(set(seen), {"OK", "UNAVAILABLE"})
        messages = Messages()
        with Daemon(rules(store=store)) as daemon, Client(messages, grpc_port(daemon)) as client:
            (status,) = client.ask("edge", ({"route": "total"}, {"hits": 0})).statuses
        self.assertEqual(1_000_000 - status.limit_remaining, seen["OK"])


if __name__ == "__main__":
    unittest.main()
