"""GET /v1/usage, with the program named by PENSTOCK_PROGRAM."""

import unittest

from daemon import Daemon, eventually
from redis_groups import Cluster
from redis_server import RedisServer

USAGE_RULES = """
    deny: [{name: banned, when: {user: banned}}]
    rules:
      - name: search
        when: {path: /search}
        key: [user]
        limits:
          minute: 5/minute
          day: 10/day fixed_window
        near_limit: 50%
        if_missing: deny
      - {name: trial, key: [user], limit: 1/day sliding_log, shadow: true, if_missing: skip}
      - {name: everyone, limit: 1000/day sliding_counter}
"""


def usage_configuration(url="memory://"):
    return f"""
store: {{url: '{url}', timeout: 5s}}
domains:
  api:
    on_failure: closed
{USAGE_RULES}
"""


class UsageTest(unittest.TestCase):
    def usage(self, daemon, query="domain=api&path=/search&user=ann"):
        answer = daemon.ask("GET", "/v1/usage?" + query)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.body

    def charge(self, daemon, times):
        for _ in range(times):
            daemon.ask("POST", "/v1/check", {"domain": "api", "attributes": {"path": "/search", "user": "ann"}})

    def judge(self, daemon):
        self.assertEqual([limit["used"] for limit in self.usage(daemon)["limits"]], [0, 0, 0, 0])
        self.charge(daemon, 5)
        said = self.usage(daemon)
        self.assertEqual(said["reason"], "within_limits" if said["limits"][0]["remaining"] else "over_limit")
        minute, day, trial, everyone = said["limits"]
        self.assertEqual((day["rule"], day["name"], day["subject"], day["quota"], day["algorithm"]),
                         ("api/search", "day", "user=ann", "10/d fixed_window", "fixed_window"))
        self.assertEqual((day["limit"], day["used"], day["remaining"]), (10, 5, 5))
        self.assertEqual((day["near_limit"], day["shadow"], day["retry_after_ms"]), (True, False, 0))
        self.assertNotIn("burn_rate_per_s", minute)
        self.assertGreater(day["burn_rate_per_s"], 0)
        self.assertEqual((trial["used"], trial["shadow"]), (1, True))
        self.assertEqual(everyone["subject"], "")
        self.assertEqual(everyone["burn_rate_per_s"], 0.001)  # 5 in a day, rounded up
        again = self.usage(daemon)
        self.assertEqual([limit.get("used") for limit in again["limits"]][1:], [5, 1, 5])

    def test_with_the_memory_store(self):
        with Daemon(usage_configuration()) as daemon:
            self.judge(daemon)
            keys = daemon.metric("penstock_memory_keys")
            for number in range(50):
                self.usage(daemon, f"domain=api&path=/search&user=new{number}")
            self.assertEqual(daemon.metric("penstock_memory_keys"), keys)

    def test_with_redis_one_call_and_no_new_key(self):
        server = RedisServer()
        self.addCleanup(server.close)
        with Daemon(usage_configuration(server.url)) as daemon:
            self.judge(daemon)
            self.assertTrue(eventually(lambda: any("nodes" in str(key) for key in server.keys())))
            keys = set(server.keys())
            before = self.scripts_run(server)
            for number in range(20):
                self.usage(daemon, f"domain=api&path=/search&user=new{number}")
            # one each, and some heartbeats
            self.assertLess(self.scripts_run(server) - before, 2 * 20)
            self.assertEqual(set(server.keys()), keys)

    def test_a_local_rule_on_redis_tells_the_usage_of_this_node(self):
        server = RedisServer()
        self.addCleanup(server.close)
        text = usage_configuration(server.url).replace("    on_failure: closed", "    mode: local")
        with Daemon(text.replace("if_missing: deny", "share: nodes")) as daemon:
            self.charge(daemon, 3)
            said = self.usage(daemon)
            self.assertEqual([limit["used"] for limit in said["limits"]][1:], [3, 1, 3])
            peeked = daemon.ask("GET", "/v1/keys/user%3Dann?rule=api/search").body
            self.assertEqual([limit["remaining"] for limit in peeked["limits"]][1:], [7])
            asked = {"domain": "api", "attributes": {"path": "/search", "user": "ann"}}
            explained = daemon.ask("POST", "/v1/explain", asked).body["decision"]
            self.assertEqual([limit["remaining"] for limit in explained["limits"]][1:], [7, 0, 997])
            refund = daemon.ask("POST", "/v1/keys/user%3Dann/refund", {"rule": "api/search", "cost": 1})
            self.assertEqual(refund.status, 200, refund.body)
            self.assertEqual(self.usage(daemon)["limits"][1]["used"], 2)

    def scripts_run(self, server):
        return sum(int(line.split("calls=")[1].split(",")[0])
                   for line in server.call("INFO", "commandstats").splitlines()
                   if line.startswith(("cmdstat_evalsha:", "cmdstat_eval:")))

    def test_with_a_cluster(self):
        cluster = Cluster()
        self.addCleanup(cluster.close)
        with Daemon(usage_configuration(cluster.url)) as daemon:
            self.judge(daemon)

    def test_requests_without_limits(self):
        with Daemon(usage_configuration()) as daemon:
            self.assertEqual(self.usage(daemon, "domain=api&user=banned")["reason"], "deny_listed")
            self.assertEqual(self.usage(daemon, "domain=api&path=/search"),
                             {"domain": "api", "domain_known": True, "reason": "missing_attribute", "limits": []})
            self.assertEqual(self.usage(daemon, "domain=other"),
                             {"domain": "other", "domain_known": False, "reason": "no_rule", "limits": []})

    def test_a_blocked_key(self):
        with Daemon(usage_configuration()) as daemon:
            self.charge(daemon, 2)
            daemon.ask("POST", "/v1/keys/user%3Dann/block", {"for": "10m", "rule": "api/search"})
            said = self.usage(daemon)
            self.assertEqual(said["reason"], "over_limit")
            self.assertTrue(said["limits"][0]["blocked"])
            self.assertNotIn("used", said["limits"][0])
            self.assertNotIn("blocked", said["limits"][3])

    def test_it_does_not_count_as_a_request(self):
        with Daemon(usage_configuration()) as daemon:
            self.usage(daemon)
            self.assertEqual(daemon.metric("penstock_requests_total"), 0)
            self.assertEqual(daemon.metric("penstock_decisions_total"), 0)


if __name__ == "__main__":
    unittest.main()
