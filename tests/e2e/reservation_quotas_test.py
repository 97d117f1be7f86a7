"""Reservations of a key with two quotas: settling lowers or raises usage and adopts no quota; on the memory store and
on Redis, for every algorithm."""

import sys
import unittest

from daemon import Daemon, eventually
from redis_server import RedisServer
from two_quotas_test import ALGORITHMS, LOOSE, STRICT, check, configuration, until_denied

# A bucket may refund up to a unit less, because it refills meanwhile.
SLACK = 1


class OnTheEmbeddedStore(unittest.TestCase):
    store = ""

    def clear(self):
        pass

    def each(self, strict=f"{STRICT}/h", loose=f"{LOOSE}/h"):
        """A daemon per algorithm, without usage; `plan: pro` has the looser quota."""
        for algorithm in ALGORITHMS:
            name = algorithm or "token_bucket"
            text = configuration(self.store, f"{strict} {algorithm}", f"{loose} {algorithm}")
            with self.subTest(algorithm=name, loose=loose), Daemon(text) as daemon:
                self.clear()
                yield daemon, SLACK if name in ("token_bucket", "gcra") else 0

    def post(self, daemon, call, **body):
        answer = daemon.ask("POST", f"/v1/{call}", body)
        self.assertIn(answer.status, (200, 429), answer.body)
        return answer.body

    def reserve(self, daemon, cost, plan="pro", ttl="1h"):
        attributes = {"user": "ann"} | ({"plan": plan} if plan else {})
        return self.post(daemon, "reserve", domain="api", attributes=attributes, cost=cost,
                         ttl=ttl).get("id")

    def assert_left(self, daemon, plan, expected, slack):
        left = until_denied(lambda: check(daemon, plan))
        self.assertLessEqual(left, expected)
        self.assertGreaterEqual(left, expected - slack)

    def test_a_cancelled_reservation_refunds_exactly_its_units(self):
        for daemon, slack in self.each():
            for _ in range(STRICT):
                self.assertEqual(check(daemon), 200)
            held = self.reserve(daemon, 50)
            self.assertEqual(check(daemon), 429)
            self.post(daemon, "cancel", id=held)
            self.assertEqual(check(daemon), 429, "the stricter quota is still exhausted")
            self.assert_left(daemon, "pro", LOOSE - STRICT, slack)

    def test_the_refund_of_a_reservation_adopts_no_quota(self):
        for loose in (f"{LOOSE}/h", f"{LOOSE}/d"):
            for daemon, slack in self.each(loose=loose):
                held = self.reserve(daemon, 3)
                for _ in range(5):
                    self.assertEqual(check(daemon), 200)  # from now on the stricter quota applies
                self.post(daemon, "cancel", id=held)
                self.assert_left(daemon, None, STRICT - 5, slack)
                self.assertEqual(check(daemon), 429)

    def test_a_commit_below_the_estimate_keeps_the_actual_usage(self):
        for daemon, slack in self.each():
            held = self.reserve(daemon, 60)
            self.assertEqual(check(daemon), 429)
            self.post(daemon, "commit", id=held, actual=4)
            self.assert_left(daemon, None, STRICT - 4, slack)
            self.assert_left(daemon, "pro", LOOSE - STRICT, slack)

    def test_a_commit_above_the_estimate_counts_under_both_quotas(self):
        for daemon, slack in self.each():
            held = self.reserve(daemon, 2)
            self.assertEqual(check(daemon), 200)
            self.assertEqual(self.post(daemon, "commit", id=held, actual=40)["uncharged"], 0)
            self.assertEqual(check(daemon), 429)
            self.assert_left(daemon, "pro", LOOSE - 41, slack)

    def test_a_commit_under_the_stricter_quota_is_bounded_by_its_limit(self):
        for daemon, slack in self.each():
            held = self.reserve(daemon, 2, plan=None)
            for _ in range(50):
                self.assertEqual(check(daemon, "pro"), 200)
            settled = self.post(daemon, "commit", id=held, actual=9)
            self.assertEqual(settled["uncharged"], 7, "52 are used of 10")
            self.assertEqual(check(daemon), 429)
            self.assert_left(daemon, "pro", LOOSE - 52, slack)

    def test_an_expired_reservation_refunds_exactly_its_units(self):
        for daemon, slack in self.each():
            for _ in range(STRICT):
                self.assertEqual(check(daemon), 200)
            self.reserve(daemon, LOOSE - STRICT, ttl="200ms")
            self.assertEqual(check(daemon, "pro"), 429)
            self.assertTrue(eventually(lambda d=daemon: check(d, "pro") == 200))
            self.assertEqual(check(daemon), 429)
            self.assert_left(daemon, "pro", LOOSE - STRICT - 1, slack)

    def test_rounds_of_reserve_and_cancel_under_two_quotas_admit_no_more(self):
        for daemon, slack in self.each():
            admitted = 0
            for number in range(10):
                held = self.reserve(daemon, 5, plan="pro" if number % 2 else None)
                if held is None:  # expected when more than half of the strict limit is used
                    self.assertGreater(admitted, STRICT - 5 - 1 - slack)
                    continue
                admitted += check(daemon, None if number % 2 else "pro") == 200
                self.post(daemon, "cancel", id=held)
            admitted += until_denied(lambda d=daemon: check(d, "pro"))
            self.assertLessEqual(admitted, LOOSE)
            self.assertGreaterEqual(admitted, LOOSE - slack)
            self.assertEqual(check(daemon), 429)


class OnRedis(OnTheEmbeddedStore):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer()
        cls.addClassCleanup(cls.server.close)
        cls.store = f"store: {{url: '{cls.server.url}', timeout: 2s}}\n"

    def clear(self):
        self.server.call("FLUSHALL")


if __name__ == "__main__":
    sys.exit(unittest.main())
