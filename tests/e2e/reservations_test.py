"""Costs that are known only afterwards: reservations over HTTP and RESP, on the memory store and on Redis, with one
daemon and with two."""

import signal
import sys
import time
import unittest

from daemon import Daemon, eventually
from link import Link
from redis_server import RedisServer
from resp_client import RespClient

RULES = """
domains:
  llm:
    rules:
      - {name: tokens, key: [user], limit: 1000/day, algorithm: anchored_window}
      - {name: bytes, key: [user], limit: 100000/day, algorithm: anchored_window, cost: 4}
  alone:
    rules:
      - {name: tokens, key: [user], limit: 1000/day, mode: local}
  envoy:
    rules:
      - {name: tokens, key: [user], limit: 1000/day, algorithm: anchored_window, count_denied: true}
resp: {listen: "127.0.0.1:0"}
"""
KEY = {"key": "k", "limit": "100/h", "algorithm": "anchored_window"}


def left(daemon, user):
    answer = daemon.ask("GET", f"/v1/keys/user%3D{user}?rule=llm/tokens")
    return answer.body["remaining"]


def by_rules(user, cost, **more):
    return {"domain": "llm", "attributes": {"user": user}, "cost": cost, **more}


class Calls:
    """The tests, for any daemon that setUp() starts."""

    def post(self, call, body, status=200, daemon=None):
        answer = (daemon or self.daemon).ask("POST", f"/v1/{call}", body)
        self.assertEqual(answer.status, status, answer.body)
        return answer.body

    def test_the_unused_part_of_an_estimate_is_refunded(self):
        reserved = self.post("reserve", by_rules("a", 600, ttl="1m"))
        self.assertEqual((reserved["state"], reserved["estimate"]), ("open", 600))
        self.assertLessEqual(reserved["expires_after_ms"], 60_000)
        self.assertEqual(left(self.daemon, "a"), 400)
        self.post("reserve", by_rules("a", 600), 429)
        settled = self.post("commit", {"id": reserved["id"], "actual": 150})
        self.assertEqual(settled, {"id": reserved["id"], "state": "committed", "estimate": 600,
                                   "actual": 150, "uncharged": 0})
        self.assertEqual(left(self.daemon, "a"), 850)
        state = self.daemon.ask("GET", "/v1/keys/user%3Da?rule=llm/bytes").body
        self.assertEqual(state["remaining"], 100_000 - 4 * 150)

    def test_usage_beyond_the_estimate_is_charged_up_to_the_limit(self):
        self.post("reserve", by_rules("b", 100, id="b1"))
        self.assertEqual(self.post("commit", {"id": "b1", "actual": 300})["uncharged"], 0)
        self.post("reserve", by_rules("b", 600, id="b2"))
        self.assertEqual(self.post("commit", {"id": "b2", "actual": 750})["uncharged"], 50)
        self.assertEqual(left(self.daemon, "b"), 0)

    def test_every_call_can_be_repeated(self):
        body = by_rules("c", 600, id="c1")
        first = self.post("reserve", body)
        again = self.post("reserve", body)
        for member in ("allowed", "id", "state", "estimate"):
            self.assertEqual(first[member], again[member])
        self.assertEqual(left(self.daemon, "c"), 400)
        answers = [self.post("commit", {"id": "c1", "actual": 1100}) for _ in range(3)]
        self.assertEqual(answers[0]["uncharged"], 100)
        self.assertEqual(answers, [answers[0]] * 3)
        self.post("commit", {"id": "c1", "actual": 1}, 409)
        self.post("cancel", {"id": "c1"}, 409)
        self.post("reserve", body, 409)
        self.post("reserve", by_rules("c2", 5, id="c2"))
        self.post("reserve", by_rules("c2", 6, id="c2"), 409)
        for _ in range(3):
            self.assertEqual(self.post("cancel", {"id": "c2"})["state"], "cancelled")
        self.assertEqual(left(self.daemon, "c2"), 1000)
        self.post("cancel", {"id": "never"}, 404)

    def test_limits_with_mode_local_cannot_be_reserved(self):
        rejected = self.post("reserve", {"domain": "alone", "attributes": {"user": "a"}, "cost": 1},
                            status=400)
        self.assertIn("mode: local", rejected["detail"])

    def test_an_expired_reservation_is_refunded(self):
        self.post("reserve", by_rules("d", 600, id="d1", ttl="2s"))
        self.assertEqual(left(self.daemon, "d"), 400)
        self.assertTrue(eventually(lambda: left(self.daemon, "d") == 1000))
        self.assertEqual(self.post("cancel", {"id": "d1"})["state"], "expired")
        self.assertEqual(self.post("commit", {"id": "d1", "actual": 70})["actual"], 70)
        self.assertEqual(left(self.daemon, "d"), 930)

    def test_limits_in_the_request(self):
        reserved = self.post("reserve", dict(KEY, cost=70, ttl="5s"))
        self.post("reserve", dict(KEY, cost=70), 429)
        self.post("cancel", {"id": reserved["id"]})
        self.assertEqual(self.post("reserve", dict(KEY, cost=70, id="k2"))["remaining"], 30)

    def test_reservations_over_resp(self):
        with RespClient(self.daemon.resp_port) as client:
            reply = client.ask("PENSTOCK.RESERVE", "r1", "600", "60000", "DOMAIN", "llm", "user", "e")
            self.assertEqual(reply[:3], [0, 1000, 400])
            self.assertEqual(reply[7], "r1")
            again = client.ask("penstock.reserve", "r1", "600", "60000", "DOMAIN", "llm", "user", "e")
            self.assertEqual(again[6:8], ["repeated", "r1"])
            for _ in range(2):
                self.assertEqual(client.ask("PENSTOCK.COMMIT", "r1", "150"),
                                 ["committed", 600, 150, 0])
            self.assertEqual(left(self.daemon, "e"), 850)
            with self.assertRaisesRegex(RuntimeError, "CONFLICT"):
                client.ask("PENSTOCK.CANCEL", "r1")
            with self.assertRaisesRegex(RuntimeError, "ERR .*mode: local"):
                client.ask("PENSTOCK.RESERVE", "*", "1", "60000", "DOMAIN", "alone", "user", "e")
            with self.assertRaisesRegex(RuntimeError, "NOTFOUND"):
                client.ask("PENSTOCK.CANCEL", "r0")
            made = client.ask("PENSTOCK.RESERVE", "*", "70", "9000", "KEY", "z", "100/h anchored_window")
            self.assertEqual(client.ask("PENSTOCK.CANCEL", made[7]), ["cancelled", 70, 0, -1])


class Embedded(Calls, unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(RULES)
        self.addCleanup(self.daemon.close)


class Shared(Calls, unittest.TestCase):
    def setUp(self):
        self.redis = RedisServer()
        self.redis_runs = True
        self.addCleanup(self.redis.close)
        self.configuration = RULES + f"store: {{url: \"{self.redis.url}\", timeout: 1s}}\n"
        self.daemon = Daemon(self.configuration)
        self.addCleanup(self.daemon.close)

    def tearDown(self):
        if self.redis_runs:
            for key in self.redis.keys():
                self.assertNotEqual(self.redis.call("PTTL", key), -1, key)

    def test_another_daemon_can_settle(self):
        with Daemon(self.configuration) as other:
            self.post("reserve", by_rules("f", 600, id="f1"))
            self.post("reserve", by_rules("f", 600, id="f1"), daemon=other)
            self.assertEqual(left(other, "f"), 400)
            self.post("commit", {"id": "f1", "actual": 100}, daemon=other)
            self.post("commit", {"id": "f1", "actual": 100})
            self.assertEqual(left(self.daemon, "f"), 900)

    def test_reservations_of_a_killed_daemon_are_refunded(self):
        with Daemon(self.configuration) as doomed:
            self.post("reserve", by_rules("g", 600, id="g1", ttl="500ms"), daemon=doomed)
            self.post("reserve", by_rules("g", 100, id="g2", ttl="1m"), daemon=doomed)
            doomed.signal(signal.SIGKILL)
            doomed.wait()
        self.assertTrue(eventually(lambda: left(self.daemon, "g") == 900))
        self.post("commit", {"id": "g2", "actual": 40})
        self.assertEqual(left(self.daemon, "g"), 960)

    def test_concurrent_settlements_apply_once(self):
        with Daemon(self.configuration) as other:
            for number in range(20):
                name = f"h{number}"
                self.post("reserve", by_rules("h", 30, id=name, ttl="2s"))
                if number % 2 == 0:
                    self.post("commit", {"id": name, "actual": 10},
                              daemon=other if number % 4 else None)
            self.assertTrue(eventually(lambda: left(self.daemon, "h") == 900))
            time.sleep(1.2)  # both have swept again
            self.assertEqual(left(other, "h"), 900)

    def test_without_the_store_nothing_is_reserved(self):
        self.redis_runs = False
        self.redis.stop()
        self.post("commit", {"id": "x", "actual": 1}, 503)
        body = self.post("reserve", dict(KEY, on_failure="open", id="x"))
        self.assertEqual((body["reason"], "id" in body), ("failed_open", False))
        self.post("reserve", KEY, 503)


class SlowStoreTest(unittest.TestCase):
    """Redis behind a link that is slow or loses replies."""

    TIMEOUT = 0.4

    def setUp(self):
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)
        self.observer = Daemon(RULES + f"store: {{url: '{self.redis.url}', timeout: 2s}}\n")
        self.addCleanup(self.observer.close)

    def start(self, link, on_failure="open"):
        self.addCleanup(link.close)
        rules = (f"store: {{url: 'redis://127.0.0.1:{link.port}', timeout: {self.TIMEOUT * 1000:.0f}ms}}\n"
                 "server: {workers: 1}\n"
                 f"domains: {{llm: {{on_failure: {on_failure}, rules: [{{name: tokens, key: [user], "
                 "limit: 1000/day, algorithm: anchored_window}]}}\n")
        daemon = Daemon(rules)
        self.addCleanup(daemon.close)
        self.assertTrue(eventually(lambda: self.check(daemon, "warm") == "within_limits"))
        return daemon

    def check(self, daemon, user, cost=0):
        body = {"domain": "llm", "attributes": {"user": user}, "cost": cost}
        return daemon.ask("POST", "/v1/check", body).body["reason"]

    def left(self, user):
        """Remaining units of the user, from a daemon with a good connection to the same Redis."""
        return left(self.observer, user)

    def test_three_round_trips_may_take_longer_than_the_timeout(self):
        # Like 3.3 ms each way and a timeout of 20 ms, scaled for a busy machine.
        daemon = self.start(Link(self.redis.port, delay=self.TIMEOUT / 5.5))
        answers = [daemon.ask("POST", "/v1/reserve", by_rules("a", 10)) for _ in range(10)]
        self.assertEqual([(a.status, "id" in a.body) for a in answers], [(200, True)] * 10)
        settled = [daemon.ask("POST", "/v1/cancel", {"id": a.body["id"]}) for a in answers]
        self.assertEqual([a.status for a in settled], [200] * 10)
        self.assertEqual(self.left("a"), 1000)

    def test_the_answer_agrees_with_the_store_when_the_last_step_times_out(self):
        for on_failure in ("open", "closed", "local"):
            with self.subTest(on_failure=on_failure):
                link = Link(self.redis.port)
                daemon = self.start(link, on_failure)
                allowed = 'penstock_decisions_total{rule="llm/tokens",outcome="allowed"}'
                before = daemon.metric(allowed)
                link.lose_answers_to(b"confirm")
                answer = daemon.ask("POST", "/v1/reserve", by_rules(on_failure, 100))
                link.lose_answers_to(None)
                used = 0
                if "id" in answer.body:  # the daemon confirmed in time that Redis has it
                    self.assertEqual((answer.status, self.left(on_failure)), (200, 900))
                    cancelled = daemon.ask("POST", "/v1/cancel", {"id": answer.body["id"]})
                    self.assertEqual(cancelled.status, 200)
                else:
                    self.assertEqual(answer.status, 503 if on_failure == "closed" else 200)
                    self.assertEqual(daemon.metric(allowed), before)
                    # The local fallback's admissions are reported to Redis afterwards.
                    used = 100 if on_failure == "local" else 0
                self.assertTrue(eventually(
                    lambda name=on_failure, left=1000 - used: self.left(name) == left))

    def test_settling_while_redis_hangs_is_bounded_and_done_once(self):
        daemon = self.start(Link(self.redis.port))
        calls = {"cancel": ("cancel", {}, 0), "less": ("commit", {"actual": 20}, 20),
                 "more": ("commit", {"actual": 150}, 150)}
        for user in calls:
            self.assertEqual(
                daemon.ask("POST", "/v1/reserve", by_rules(user, 100, id=user)).status, 200)

        def settle(user):
            call, body, _ = calls[user]
            return daemon.ask("POST", f"/v1/{call}", {"id": user} | body).status

        def is_settled(user):
            return settle(user) == 200 and self.left(user) == 1000 - calls[user][2]

        self.redis.signal(signal.SIGSTOP)
        try:
            for user in calls:
                began = time.monotonic()
                self.assertEqual(settle(user), 503)
                self.assertLess(time.monotonic() - began, 5)
        finally:
            self.redis.signal(signal.SIGCONT)
        for user in calls:
            self.assertTrue(eventually(lambda name=user: is_settled(name)), user)
        time.sleep(1.2)  # the daemon has retried
        for user in calls:
            self.assertTrue(is_settled(user), user)

    def test_a_settlement_with_a_lost_reply_is_applied_once(self):
        for call, step, actual in (("cancel", b"cancel", 0), ("commit", b"commit", 100),
                                   ("commit", b"commit", 700)):
            with self.subTest(call=call, actual=actual):
                user = f"{call}{actual}"
                link = Link(self.redis.port)
                daemon = self.start(link)
                self.assertEqual(
                    daemon.ask("POST", "/v1/reserve", by_rules(user, 600, id=user)).status, 200)
                link.lose_answers_to(step)
                body = {"id": user} | ({"actual": actual} if call == "commit" else {})
                self.assertEqual(daemon.ask("POST", f"/v1/{call}", body).status, 503)
                link.lose_answers_to(None)
                self.assertTrue(eventually(lambda d=daemon: self.check(d, "w") == "within_limits"))
                self.assertEqual(daemon.ask("POST", f"/v1/{call}", body).status, 200)
                self.assertTrue(eventually(
                    lambda name=user, used=actual: self.left(name) == 1000 - used))
                time.sleep(1.2)  # the daemon has retried
                self.assertEqual(daemon.ask("POST", f"/v1/{call}", body).status, 200)
                self.assertEqual(self.left(user), 1000 - actual)


class EnvoyPattern(unittest.TestCase):
    """The cost of a response with the two calls that Envoy can make: a peek with an addend of 0 before the request, and
    a charge after it."""

    def test_peek_first_and_charge_afterwards(self):
        with Daemon(RULES) as daemon:
            def hit(cost):
                descriptor = {"entries": [{"key": "user", "value": "v"}], "hitsAddend": cost}
                body = {"domain": "envoy", "descriptors": [descriptor]}
                return daemon.ask("POST", "/json", body).status
            self.assertEqual(hit(0), 200)
            self.assertEqual(hit(0), 200)  # nothing was charged
            self.assertEqual(hit(990), 200)
            self.assertEqual(hit(0), 200)  # ten are left: one more may start
            self.assertEqual(hit(50), 429)  # more than was left: charges the rest
            self.assertEqual(hit(0), 429)


if __name__ == "__main__":
    sys.exit(unittest.main())
