"""One key under two quotas: in any order of checks, no more is admitted than the loosest quota allows, on the memory
store and on Redis."""

import json
import unittest

from daemon import Daemon, eventually
from redis_server import RedisServer

ROUNDS = 10
LOOSE, STRICT = 100, 10
# Every algorithm; periods long enough that nothing refills during the test.
ALGORITHMS = ("", "gcra", "anchored_window", "sliding_log", "sliding_counter", "sub_windows 10")


def configuration(store, limit=f"{STRICT}/h", pro=f"{LOOSE}/h", mode="exact"):
    return (f"server: {{workers: 1}}\n{store}"
            f"maps: {{plans: {{values: {{pro: {pro}}}}}}}\n"
            f"domains: {{api: {{mode: {mode}, rules: [{{name: r, key: [user], limit: {limit}, "
            "overrides: {map: plans, by: plan}}]}}\n")


def check(daemon, plan=None, cost=1):
    attributes = {"user": "ann"} | ({"plan": plan} if plan else {})
    body = json.dumps({"domain": "api", "attributes": attributes, "cost": cost})
    return daemon.ask("POST", "/v1/check", body).status


def take(daemon, limit, cost=1, burst=None):
    body = {"key": "k", "limit": limit, "cost": cost} | ({"burst": burst} if burst else {})
    return daemon.ask("POST", "/v1/take", json.dumps(body)).status


def until_denied(ask, most=2000):
    for admitted in range(most):
        if ask() != 200:
            return admitted
    return most


class OnTheEmbeddedStore(unittest.TestCase):
    store = ""

    def test_a_denial_under_the_stricter_quota_keeps_usage(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm or "token_bucket"), Daemon(
                configuration(self.store, f"{STRICT}/h {algorithm}", f"{LOOSE}/h {algorithm}")
            ) as daemon:
                admitted = 0
                for _ in range(ROUNDS):
                    admitted += until_denied(lambda d=daemon: check(d, "pro"))
                    self.assertEqual(check(daemon), 429)
                self.assertEqual(admitted, LOOSE)
                self.clear()

    def test_admissions_under_a_shorter_window_keep_usage(self):
        with Daemon(configuration(self.store, f"{STRICT}/s fixed_window",
                                  f"{LOOSE}/h anchored_window")) as daemon:
            admitted = 0
            for _ in range(ROUNDS):
                admitted += sum(check(daemon, "pro") == 200 for _ in range(5))
                admitted += check(daemon) == 200
            # The stricter quota admits while five are used, then never more than its limit.
            self.assertLessEqual(admitted, 5 * ROUNDS + STRICT)
            admitted += until_denied(lambda: check(daemon, "pro"))
            self.assertEqual(admitted, LOOSE)

    def test_take_with_a_looser_limit_keeps_usage(self):
        with Daemon(configuration(self.store)) as daemon:
            self.assertEqual(until_denied(lambda: take(daemon, "10/h")), 10)
            self.assertEqual(take(daemon, "1000000/s", cost=1000000), 429)
            self.assertEqual(take(daemon, "10/h"), 429)
            self.assertEqual(take(daemon, "10/h", cost=0), 429)
            self.assertEqual(take(daemon, "5/h"), 429)
            self.assertEqual(until_denied(lambda: take(daemon, "20/h")), 10)
            self.assertEqual(take(daemon, "10/h"), 429)

    def test_take_with_a_looser_limit_keeps_usage_for_every_algorithm(self):
        looser = (f"{LOOSE}/h", f"{LOOSE}/d", "5000/s", "5000/d")
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm or "token_bucket"), Daemon(
                configuration(self.store, f"{STRICT}/h {algorithm}")
            ) as daemon:
                strict = f"{STRICT}/h {algorithm}"
                self.assertEqual(until_denied(lambda d=daemon, q=strict: take(d, q)), STRICT)
                for other in looser:
                    for kind in ALGORITHMS:
                        # A peek and a denial adopt nothing.
                        take(daemon, f"{other} {kind}", cost=0)
                        self.assertEqual(take(daemon, f"{other} {kind}", cost=6000), 429)
                        self.assertEqual(take(daemon, strict), 429, f"{other} {kind}")
                # An admission adopts the looser quota and keeps usage.
                self.assertEqual(take(daemon, f"{LOOSE}/h {algorithm}"), 200)
                self.assertEqual(take(daemon, strict), 429)
                self.assertEqual(
                    until_denied(lambda d=daemon, a=algorithm: take(d, f"{LOOSE}/h {a}")),
                    LOOSE - STRICT - 1)
                self.clear()

    def test_take_with_the_key_of_a_rule_does_not_change_the_rule(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm=algorithm or "token_bucket"), Daemon(
                configuration(self.store, f"{STRICT}/h {algorithm}")
            ) as daemon:
                self.assertEqual(until_denied(lambda d=daemon: check(d)), STRICT)
                for key in ("ann", "user=ann", "api/r", "r"):
                    body = {"key": key, "limit": f"5000/h {algorithm}", "cost": 50}
                    self.assertEqual(daemon.ask("POST", "/v1/take", json.dumps(body)).status, 200)
                    self.assertEqual(check(daemon), 429, key)
                self.clear()

    def test_a_lowered_limit_denies_until_usage_has_drained(self):
        with Daemon(configuration(self.store, limit=f"{LOOSE}/h")) as daemon:
            self.assertEqual(sum(check(daemon) == 200 for _ in range(50)), 50)
            daemon.configuration.write_text(configuration(self.store), encoding="utf-8")
            self.assertTrue(eventually(lambda: check(daemon) == 429, 10))
            daemon.configuration.write_text(configuration(self.store, limit=f"{LOOSE}/h"),
                                            encoding="utf-8")
            self.assertTrue(eventually(lambda: check(daemon) == 200, 10))
            # One was admitted above, and perhaps some before the first reload.
            self.assertLessEqual(until_denied(lambda: check(daemon)), LOOSE - 51)

    def test_one_request_under_both_quotas_must_fit_both(self):
        def both(daemon, first, second):
            body = {"domain": "api", "descriptors": [
                {"entries": [{"key": name, "value": value} for name, value in each.items()]}
                for each in (first, second)]}
            return daemon.ask("POST", "/json", json.dumps(body)).status

        pro, free = {"user": "ann", "plan": "pro"}, {"user": "ann"}
        for first, second in ((pro, free), (free, pro)):
            with Daemon(configuration(self.store)) as daemon:
                admitted = until_denied(lambda d=daemon, a=first, b=second: both(d, a, b))
                # Each charges one under each quota; the stricter one limits both.
                self.assertEqual(admitted, STRICT // 2)
                self.assertEqual(check(daemon, "pro"), 200, "and the looser one has room")
                self.clear()

    def clear(self):
        pass


class OnRedis(OnTheEmbeddedStore):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer()
        cls.addClassCleanup(cls.server.close)
        cls.store = f"store: {{url: '{cls.server.url}', timeout: 2s}}\n"

    def setUp(self):
        self.clear()

    def clear(self):
        self.server.call("FLUSHALL")

    def test_two_daemons_during_a_rolling_change(self):
        with Daemon(configuration(self.store, limit=f"{LOOSE}/h")) as old, Daemon(
            configuration(self.store)
        ) as new:
            admitted = 0
            for _ in range(ROUNDS):
                admitted += until_denied(lambda: check(old))
                self.assertEqual(check(new), 429)
            self.assertEqual(admitted, LOOSE)


if __name__ == "__main__":
    unittest.main()
