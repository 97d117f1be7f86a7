"""The daemon on a Redis with failover, and on a cluster."""

import concurrent.futures
import time
import unittest

from daemon import Daemon, eventually
from redis_groups import Cluster, SentinelGroup

POLICIES = ("open", "closed", "local")
# A sentinel needs 0.5 s to detect the failure, and some more to elect and promote a replica.
FAILOVER = 15  # seconds
FAILED_CLOSED = 'penstock_requests_total{reason="failed_closed",domain="closed"}'


def check(daemon, domain, user):
    return daemon.ask("POST", "/v1/check", {"domain": domain, "attributes": {"user": user}})


class SentinelTest(unittest.TestCase):
    def configuration(self, url):
        rule = "rules: [{name: r, key: [user], limit: 10/day, algorithm: anchored_window}]"
        domains = "".join(f"  {name}: {{on_failure: {name}, {rule}}}\n" for name in POLICIES)
        return f"store: {{url: '{url}', timeout: 50ms}}\nnodes: 2\ndomains:\n{domains}"

    def test_a_failover_keeps_usage(self):
        group = SentinelGroup()
        self.addCleanup(group.close)
        with Daemon(self.configuration(group.url)) as daemon:
            self.assertTrue(eventually(lambda: check(daemon, "closed", "warm").status == 200))
            used = [check(daemon, "closed", "alice").status for _ in range(11)]
            self.assertEqual(used, [200] * 10 + [429])
            group.wait_for_replica()
            # On a busy machine the first request may come before the connection to Redis.
            denied_before = daemon.metric(FAILED_CLOSED) or 0
            group.master.stop()  # kill -9
            killed = time.monotonic()

            meanwhile = {policy: [] for policy in POLICIES}
            while time.monotonic() - killed < FAILOVER:
                for policy in POLICIES:
                    user = f"u{len(meanwhile[policy]) // 3}"
                    meanwhile[policy].append(check(daemon, policy, user).status)
                if meanwhile["closed"][-1] == 200:
                    break
                time.sleep(0.02)
            took = time.monotonic() - killed

            self.assertEqual(meanwhile["closed"][-1], 200, "no replica was promoted")
            self.assertEqual(set(meanwhile["open"]), {200})
            self.assertEqual(set(meanwhile["local"]), {200})  # three each of a fallback of five
            denied = meanwhile["closed"].count(503)
            self.assertGreater(denied, 0)
            self.assertEqual(denied + meanwhile["closed"].count(200), len(meanwhile["closed"]))
            self.assertEqual(daemon.metric(FAILED_CLOSED) - denied_before, denied)
            self.assertEqual(check(daemon, "closed", "alice").status, 429, "her count was lost")
            daemon.wait_for_output("the master is now")
        print(f"\nfailover: {took:.1f} s without a master, {denied} denied by policy")


class ClusterTest(unittest.TestCase):
    RULES = """
store: {url: 'URL', timeout: 1s}
domains:
  api:
    rules:
      - {name: one, key: [user], limit: 5/day, algorithm: anchored_window}
  two:
    rules:
      - name: both
        key: [user]
        limits:
          small: {limit: 3/day, algorithm: anchored_window}
          large: {limit: 7/day, algorithm: anchored_window}
  shared:
    rules:
      - {name: own, key: [user], limit: 5/day, algorithm: anchored_window}
      - {name: everyone, limit: 20/day, algorithm: anchored_window}
"""
    USERS = 40

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        for server in self.cluster.servers:
            server.call("FLUSHALL")
        self.daemon = Daemon(self.RULES.replace("URL", self.cluster.url))
        self.addCleanup(self.daemon.close)
        self.assertTrue(eventually(lambda: self.daemon.metric("penstock_store_serving") == 1))

    def admitted(self, domain, times):
        """Admissions per user of this many concurrent requests each."""
        users = [f"u{number}" for number in range(self.USERS)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda user: (user, check(self.daemon, domain, user).status),
                                    users * times))
        self.assertLessEqual({status for _, status in answers}, {200, 429})
        return [answers.count((user, 200)) for user in users]

    def remaining(self, user, rule):
        answer = self.daemon.ask("GET", f"/v1/keys/user={user}?rule={rule}").body
        return [limit["remaining"] for limit in answer["limits"]]

    def test_limits_hold_whichever_slot_a_key_is_in(self):
        self.assertEqual(self.admitted("api", 8), [5] * self.USERS)
        for server in self.cluster.servers:
            self.assertGreater(server.call("DBSIZE"), 0)

    def test_multi_limit_checks_are_all_or_nothing(self):
        self.assertEqual(self.admitted("two", 5), [3] * self.USERS)
        self.assertEqual(self.remaining("u7", "two/both"), [0, 4])

    def test_limits_of_several_slots_are_refunded_when_another_denies(self):
        passed = self.admitted("shared", 1)
        self.assertEqual(sum(passed), 20)

        def is_settled():  # the refund may still be in flight when the denial is answered
            return all(self.remaining(f"u{number}", "shared/own") == [5 - taken]
                       for number, taken in enumerate(passed))

        self.assertTrue(eventually(is_settled))


class ClusterNodeDownTest(unittest.TestCase):
    def test_a_denial_stays_a_denial_when_the_node_of_another_limit_is_down(self):
        cluster = Cluster()
        self.addCleanup(cluster.close)
        everyone = cluster.master_of("penstock:1:l:{}:shared/everyone")
        users = [f"u{number}" for number in range(40)]
        apart = [user for user in users
                 if cluster.master_of(f"penstock:1:l:{{user={user}}}:shared/own") is not everyone]
        rules = ClusterTest.RULES.replace("URL", cluster.url).replace("20/day", "1000/day")
        with Daemon(rules) as daemon:
            self.assertTrue(eventually(lambda: daemon.metric("penstock_store_serving") == 1))
            for user in apart[:6]:
                used = [check(daemon, "shared", user).status for _ in range(6)]
                self.assertEqual(used, [200] * 5 + [429])
            self.assertGreater(everyone.call("DBSIZE"), 0)
            everyone.stop()
            # Until nothing is answered from the denial cache, and the loss of the node is known.
            self.assertTrue(eventually(
                lambda: check(daemon, "shared", "another").body.get("reason") == "failed_open"))
            time.sleep(1.2)
            answers = [check(daemon, "shared", user).status for user in apart[:6]]
            self.assertEqual(answers, [429] * 6)


if __name__ == "__main__":
    unittest.main()
