"""Repeated reserve and cancel on a limit with `mode: lease_strict` loses no units."""

import time
import unittest

from daemon import Daemon
from redis_server import RedisServer

LIMIT, ESTIMATE, ROUNDS = 300, 50, 20
LEAST = LIMIT * 99 // 100  # strict leases admit at least 99 % of what exact decisions admit
RULES = """
server: {workers: 1}
store: {url: '%s', timeout: 1s}
domains:
  api:
    rules:
      - {name: r, key: [user], limit: 300/d, mode: %s}
"""


class StrictReservations(unittest.TestCase):
    def setUp(self):
        self.server = RedisServer()
        self.addCleanup(self.server.close)

    def left_after_rounds(self, mode, pause):
        with Daemon(RULES % (self.server.url, mode)) as daemon:
            reserved = 0
            for _ in range(ROUNDS):
                answer = daemon.ask("POST", "/v1/reserve", {
                    "domain": "api", "attributes": {"user": mode}, "cost": ESTIMATE})
                if answer.status == 200:
                    reserved += 1
                    cancelled = daemon.ask("POST", "/v1/cancel", {"id": answer.body["id"]})
                    self.assertEqual(cancelled.status, 200, cancelled.body)
                time.sleep(pause)
            left = 0
            for _ in range(LIMIT + 10):
                answer = daemon.ask("POST", "/v1/check",
                                    {"domain": "api", "attributes": {"user": mode}})
                left += answer.status == 200
            print(f"\n{mode}, a pause of {pause} s: {reserved} of {ROUNDS} reserved, "
                  f"then {left} of {LIMIT} admitted")
            return reserved, left

    def assert_nothing_is_lost(self, mode, pause):
        reserved, left = self.left_after_rounds(mode, pause)
        self.assertEqual(reserved, ROUNDS)
        self.assertGreaterEqual(left, LEAST)
        self.assertLessEqual(left, LIMIT)

    def test_exact_decisions_lose_nothing(self):
        self.assert_nothing_is_lost("exact", 0)

    def test_rounds_without_a_pause_lose_nothing(self):
        self.assert_nothing_is_lost("lease_strict", 0)

    def test_rounds_with_a_second_between_them_lose_nothing(self):
        self.assert_nothing_is_lost("lease_strict", 1)


if __name__ == "__main__":
    unittest.main()
