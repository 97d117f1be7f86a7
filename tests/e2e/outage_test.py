"""Admissions during a Redis outage under `on_failure: local`: no fresh burst, no slow answer, and reconciliation
afterwards."""

import signal
import threading
import time
import unittest

from daemon import Daemon, eventually
from link import Link
from redis_server import RedisServer

NODES = 2
TIMEOUT = 0.05  # seconds, of store calls
MARGIN = 2  # for a busy machine
RULES = """
store: {url: '%s', timeout: 50ms, breaker_max_pause: 200ms}
nodes: 2
domains:
  api:
    on_failure: local
    rules:
      - {name: rate, when: {path: /rate}, key: [user], limit: 20/s, burst: 40}
      - {name: quota, when: {path: /quota}, key: [user], limit: 100/day, algorithm: anchored_window}
"""


class OutageTest(unittest.TestCase):
    def setUp(self):
        self.server = RedisServer()
        self.addCleanup(self.server.close)

    slowest = 0.0  # answer so far, in seconds

    def check(self, daemon, path, user, cost=1):
        body = {"domain": "api", "attributes": {"path": path, "user": user}, "cost": cost}
        began = time.monotonic()
        answer = daemon.ask("POST", "/v1/check", body)
        self.slowest = max(self.slowest, time.monotonic() - began)
        return answer

    def left(self, daemon, user):
        """Remaining units of the quota in Redis; None while Redis is unreachable."""
        answer = daemon.ask("POST", "/v1/explain",
                            {"domain": "api", "attributes": {"path": "/quota", "user": user}})
        limits = answer.body["decision"]["limits"]
        return None if limits[0].get("local") else limits[0].get("remaining")

    def wait_for_redis(self, daemon):
        # each worker has its own connection and circuit breaker
        def answers():
            said = [self.check(daemon, "/rate", f"warm{i}").body["reason"] for i in range(20)]
            return all(reason == "within_limits" for reason in said)
        self.assertTrue(eventually(answers))

    def test_an_exhausted_key_gets_nothing_during_an_outage_and_usage_is_reconciled(self):
        with Daemon(RULES % self.server.url) as daemon:
            self.wait_for_redis(daemon)
            self.assertEqual(self.check(daemon, "/quota", "spent", 100).status, 200)
            self.assertEqual(self.check(daemon, "/quota", "half", 50).status, 200)
            self.slowest = 0
            self.server.signal(signal.SIGSTOP)
            stopped = time.monotonic()
            spent = [self.check(daemon, "/quota", "spent") for _ in range(30)]
            half = [self.check(daemon, "/quota", "half") for _ in range(60)]
            fresh = [self.check(daemon, "/quota", "fresh") for _ in range(60)]
            lasted = time.monotonic() - stopped
            self.server.signal(signal.SIGCONT)
            passed = [sum(a.status == 200 for a in some) for some in (spent, half, fresh)]
            print(f"\noutage of {lasted:.1f} s, {NODES} nodes, 100/day: passed {passed[0]} of who had "
                  f"used 100, {passed[1]} of 50, {passed[2]} of 0; slowest answer "
                  f"{self.slowest * 1000:.0f} ms, timeout {TIMEOUT * 1000:.0f} ms")
            self.assertEqual(passed, [0, 25, 50])
            self.assertEqual({a.body["reason"] for a in spent + half + fresh}, {"decided_locally"})
            self.assertLess(self.slowest, TIMEOUT + MARGIN)

            self.wait_for_redis(daemon)
            self.assertTrue(eventually(lambda: daemon.metric("penstock_outage_unreconciled_keys") == 0))
            # Calls that timed out may have reached Redis and been charged as well.
            self.assertTrue(eventually(lambda: 15 <= (self.left(daemon, "half") or 99) <= 25))
            self.assertTrue(eventually(lambda: 40 <= (self.left(daemon, "fresh") or 99) <= 50))
            reconciled = daemon.metric("penstock_outage_reconciled_units_total")
            print(f"reconciled {reconciled:.0f} units; left of 100: half {self.left(daemon, 'half')}, "
                  f"fresh {self.left(daemon, 'fresh')}")
            self.assertEqual(reconciled + daemon.metric("penstock_outage_lost_units_total"), 75)
            daemon.wait_for_output("outage reconciled: units admitted locally were reported to the store")
            time.sleep(1.5)  # another tick: nothing is reported twice
            self.assertEqual(daemon.metric("penstock_outage_reconciled_units_total"), reconciled)

    def by_hand(self, daemon, method, user, what="", body=None):
        answer = daemon.ask(method, f"/v1/keys/user={user}{what}", {"rule": "api/quota", **(body or {})}
                            if method == "POST" else None)
        self.assertEqual(answer.status, 200, answer.body)

    def test_changes_by_another_node_invalidate_local_state(self):
        users = ("unblocked", "reset", "refunded", "blocked")
        with Daemon(RULES % self.server.url) as daemon, Daemon(RULES % self.server.url) as other:
            for each in (daemon, other):
                self.wait_for_redis(each)
            for user in ("reset", "refunded"):
                self.assertEqual(self.check(daemon, "/quota", user, 100).status, 200)
            for user in ("unblocked", "blocked"):
                self.by_hand(other, "POST", user, "/block", {"for": "1h"})
            # Each worker of the daemon receives it.
            for user in users:
                self.assertTrue(all(self.check(daemon, "/quota", user).status == 429
                                    for _ in range(20)))
            self.by_hand(other, "POST", "unblocked", "/unblock")
            self.by_hand(other, "DELETE", "reset", "?rule=api/quota")
            self.by_hand(other, "POST", "refunded", "/refund", {"cost": 100})
            # Not /quota: the daemon must learn of it from the feed.
            self.assertTrue(eventually(lambda: self.feed_is_quiet(daemon)))
            self.server.signal(signal.SIGSTOP)
            said = {user: self.check(daemon, "/quota", user) for user in users}
            self.server.signal(signal.SIGCONT)
            self.assertEqual({user: answer.status for user, answer in said.items()},
                             {"unblocked": 200, "reset": 200, "refunded": 200, "blocked": 429})

    def feed_is_quiet(self, daemon):
        time.sleep(0.5)  # until published messages have arrived, also on a busy machine
        return self.check(daemon, "/rate", "quiet").body["reason"] == "within_limits"

    def test_a_reconnected_feed_invalidates_local_state(self):
        with Daemon(RULES % self.server.url) as daemon, Daemon(RULES % self.server.url) as other:
            for each in (daemon, other):
                self.wait_for_redis(each)
            self.by_hand(other, "POST", "ann", "/block", {"for": "1h"})
            self.assertTrue(all(self.check(daemon, "/quota", "ann").status == 429
                                for _ in range(20)))
            # A change that is not published; then the feed reconnects.
            self.server.call("FLUSHALL")
            self.server.call("CLIENT", "KILL", "TYPE", "pubsub")
            self.assertTrue(eventually(lambda: self.listeners() >= 2))
            self.assertTrue(eventually(lambda: self.feed_is_quiet(daemon)))
            self.server.signal(signal.SIGSTOP)
            answer = self.check(daemon, "/quota", "ann")
            self.server.signal(signal.SIGCONT)
            self.assertEqual((answer.status, answer.body["reason"]), (200, "decided_locally"))

    def listeners(self):
        channels = self.server.call("PUBSUB", "CHANNELS", "*")
        counts = self.server.call("PUBSUB", "NUMSUB", *channels) if channels else []
        return sum(counts[1::2])

    def test_a_flapping_redis_grants_no_new_burst(self):
        with Daemon(RULES % self.server.url) as daemon:
            self.wait_for_redis(daemon)
            self.slowest = 0
            began = time.monotonic()
            admitted = {"within_limits": 0, "decided_locally": 0}
            down = 0.0
            for _ in range(6):
                self.server.signal(signal.SIGSTOP)
                until = time.monotonic() + 0.4
                while time.monotonic() < until:
                    answer = self.check(daemon, "/rate", "hungry")
                    if answer.status == 200:
                        admitted[answer.body["reason"]] += 1
                down += 0.4
                self.server.signal(signal.SIGCONT)
                time.sleep(0.3)
                answer = self.check(daemon, "/rate", "hungry")
                if answer.status == 200:
                    admitted[answer.body["reason"]] += 1
            lasted = time.monotonic() - began
            # For one of two nodes: its share of (rate x time + burst).
            bound = (20 * lasted + 40) / NODES
            print(f"\n6 outages, {down:.1f} s of {lasted:.1f} s, 20/s burst 40, {NODES} nodes: "
                  f"admitted {admitted['decided_locally']} without Redis, at most {bound:.0f} = "
                  f"(20 x {lasted:.1f} + 40) / {NODES}; slowest answer {self.slowest * 1000:.0f} ms")
            self.assertLessEqual(admitted["decided_locally"], bound)
            self.assertGreater(admitted["decided_locally"], 0)
            self.assertLess(self.slowest, TIMEOUT + MARGIN)


class DroppedConnectionsTest(unittest.TestCase):
    """A healthy Redis behind a proxy that closes connections now and then."""

    RULES = """
store: {url: '%s', timeout: 100ms}
domains: {api: {rules: [{name: all, key: [user], limit: 1000000/day}]}}
"""

    def failed_share(self, every, seconds):
        server = RedisServer()
        self.addCleanup(server.close)
        link = Link(server.port)
        self.addCleanup(link.close)
        reasons = []
        enough = threading.Event()

        def ask(daemon, user):
            body = {"domain": "api", "attributes": {"user": user}}
            while not enough.is_set():
                reasons.append(daemon.ask("POST", "/v1/check", body).body["reason"])
                time.sleep(0.005)

        with Daemon(self.RULES % f"redis://127.0.0.1:{link.port}") as daemon:
            self.assertTrue(eventually(lambda: daemon.metric("penstock_store_serving") == 1))
            threads = [threading.Thread(target=ask, args=(daemon, f"u{number}"))
                       for number in range(4)]
            for thread in threads:
                thread.start()
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(every)
                link.drop()
            enough.set()
            for thread in threads:
                thread.join()
        failed = len(reasons) - reasons.count("within_limits")
        print(f"\nconnections dropped every {every} s: {failed} of {len(reasons)} requests failed open")
        self.assertGreater(len(reasons), 100)
        return failed / len(reasons)

    def test_few_requests_fail_however_often_connections_are_dropped(self):
        for every in (0.1, 0.4):
            with self.subTest(every=every):
                self.assertLess(self.failed_share(every, 5), 0.04)


if __name__ == "__main__":
    unittest.main()
