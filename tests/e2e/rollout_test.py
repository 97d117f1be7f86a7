"""Gradual roll-out of a rule (enforce, abort) and near_limit, with the program named by PENSTOCK_PROGRAM."""

import json
import signal
import subprocess
import unittest

from daemon import PROGRAM, Daemon, eventually
from redis_server import RedisServer

USERS = [f"u{number}" for number in range(60)]


def place(domain, rule, subject):
    """As in docs/reference/configuration.md."""
    mask = 2**64 - 1
    h = 0xcbf29ce484222325
    for byte in f"{domain}/{rule}\n{subject}".encode():
        h = (h ^ byte) * 0x100000001b3 & mask
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd & mask
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53 & mask
    return (h ^ h >> 33) % 10000


def rules(options, url="memory://", limit="1/day fixed_window", workers=2):
    return f"""
server: {{workers: {workers}}}
store: {{url: '{url}', timeout: 5s}}
domains:
  api:
    on_failure: closed
    rules:
      - {{name: search, key: [user], limit: {limit}, if_missing: skip, {options}}}
"""


def check(daemon, user, domain="api"):
    return daemon.ask("POST", "/v1/check", {"domain": domain, "attributes": {"user": user}})


def denied(daemon, users=USERS):
    """The users whose second request, or a later one, is denied."""
    for user in users:
        check(daemon, user)
    return {user for user in users if check(daemon, user).status == 429}


def reload(daemon, text):
    loaded = daemon.metric('penstock_config_reloads_total{result="ok"}')
    daemon.configuration.write_text(text, encoding="utf-8")
    daemon.signal(signal.SIGHUP)
    if not eventually(lambda: daemon.metric('penstock_config_reloads_total{result="ok"}') > loaded):
        raise AssertionError("not reloaded")


class EnforceTest(unittest.TestCase):
    def expected(self, percent):
        return {user for user in USERS if place("api", "search", f"user={user}") < percent * 100}

    def test_all_nodes_enforce_the_rule_for_the_same_subjects(self):
        server = RedisServer()
        self.addCleanup(server.close)
        with Daemon(rules("enforce: 30%", server.url)) as one, Daemon(rules("enforce: 30%", server.url)) as two:
            expected = self.expected(30)
            self.assertGreater(len(expected), 5)
            self.assertEqual(denied(one), expected)
            self.assertEqual(denied(two), expected)

    def test_a_larger_share_keeps_the_subjects_of_a_smaller_one(self):
        with Daemon(rules("enforce: 10%")) as daemon:
            before = denied(daemon)
            for percent in (20, 55.5, 100):
                reload(daemon, rules(f"enforce: {percent}%"))
                after = denied(daemon)
                self.assertEqual(after, self.expected(percent))
                self.assertLess(before, after)
                before = after
            self.assertEqual(before, set(USERS))

    def test_metrics_and_rules_tell_enforced_from_shadow(self):
        with Daemon(rules("enforce: 12.5%, abort: {denied_above: 5%, over: 1m}, near_limit: 80%")) as daemon:
            enforced = denied(daemon)
            self.assertEqual(daemon.metric('penstock_decisions_total{outcome="denied"}'), len(enforced))
            self.assertEqual(daemon.metric('penstock_decisions_total{outcome="shadow_denied"}'),
                             len(USERS) - len(enforced))
            rule = daemon.admin("/rules").body["rules"][0]
            self.assertEqual(rule["enforce_percent"], 12.5)
            self.assertEqual(rule["near_limit_percent"], 80)
            self.assertEqual(rule["abort"], {"denied_above_percent": 5, "over_ms": 60000, "min_requests": 100})

    def test_explain_says_whether_a_subject_is_included(self):
        with Daemon(rules("enforce: 50%")) as daemon:
            for user in USERS[:10]:
                included = user in self.expected(50)
                answer = daemon.ask("POST", "/v1/explain", {"domain": "api", "attributes": {"user": user}})
                words = "enforced" if included else "shadow mode"
                self.assertEqual(answer.body["rules"][0]["reason"],
                                 f"applies; {words} for this subject (enforce: 50%)")
                said = subprocess.run(
                    [PROGRAM, "explain", "--config", daemon.configuration, "--json", f"user={user}"],
                    capture_output=True, encoding="utf-8", timeout=60, check=True).stdout
                self.assertEqual(json.loads(said)["limits"][0]["shadow"], not included)

    def test_a_reservation_of_a_subject_in_shadow_mode_is_not_denied(self):
        with Daemon(rules("enforce: 50%")) as daemon:
            for user in USERS[:10]:
                body = {"domain": "api", "attributes": {"user": user}}
                self.assertEqual(daemon.ask("POST", "/v1/reserve", body).status, 200)
                again = daemon.ask("POST", "/v1/reserve", body)
                self.assertEqual(again.status, 429 if user in self.expected(50) else 200, again.body)


class AbortTest(unittest.TestCase):
    CONFIGURATION = rules("enforce: 100%, abort: {denied_above: 20%, over: 10s, min_requests: 40}")

    def abort(self, daemon):
        for _ in range(50):
            check(daemon, "one")
        daemon.wait_for_output("roll-out aborted")

    def test_a_roll_out_that_denies_too_much_falls_back_to_shadow_mode(self):
        with Daemon(self.CONFIGURATION) as daemon:
            self.assertEqual(daemon.metric("penstock_rollout_aborted"), 0)
            self.assertEqual(daemon.admin("/readyz").body, {"ready": True, "reasons": []})
            self.abort(daemon)
            self.assertEqual(check(daemon, "one").status, 200)
            self.assertEqual(daemon.metric('penstock_rollout_aborted{rule="api/search"}'), 1)
            ready = daemon.admin("/readyz")
            self.assertEqual(ready.status, 200)
            self.assertEqual(ready.body["reasons"][0]["kind"], "rollout")
            self.assertRegex(ready.body["reasons"][0]["detail"],
                             r"^api/search: [0-9.]+% of [0-9]+ requests were denied within 10 s, more than 20%; "
                             "the rule is in shadow mode until the rule changes or a restart$")
            explained = daemon.ask("POST", "/v1/explain", {"domain": "api", "attributes": {"user": "one"}}).body
            self.assertTrue(explained["decision"]["allowed"])
            self.assertIn("the roll-out is aborted", explained["rules"][0]["reason"])
            state = daemon.admin("/state").body
            self.assertEqual((state["state"], state["rollouts"][0]["aborted"]), ("degraded", True))
            self.assertTrue(eventually(
                lambda: daemon.admin("/history").body["marks"][-1]["kind"] == "rollout_abort"))
            self.assertRegex(daemon.output, 'warning roll-out aborted rule="api/search" enforce="100%"')

    def test_it_lasts_until_the_rule_changes(self):
        with Daemon(self.CONFIGURATION) as daemon:
            self.abort(daemon)
            self.assertEqual({check(daemon, "one").status for _ in range(50)}, {200})
            reload(daemon, self.CONFIGURATION + "unknown_domain: deny\n")
            self.assertTrue(eventually(lambda: check(daemon, "one", domain="none").status == 403))
            self.assertEqual(check(daemon, "one").status, 200)
            self.assertEqual(daemon.metric("penstock_rollout_aborted"), 1)
            reload(daemon, self.CONFIGURATION.replace("20%", "90%"))
            self.assertTrue(eventually(lambda: check(daemon, "one").status == 429))
            self.assertEqual(daemon.metric("penstock_rollout_aborted"), 0)
            self.assertEqual(daemon.admin("/readyz").body["reasons"], [])

    def test_each_node_decides_for_its_own_traffic(self):
        server = RedisServer()
        self.addCleanup(server.close)
        text = self.CONFIGURATION.replace("memory://", server.url)
        with Daemon(text) as one, Daemon(text) as two:
            self.abort(one)
            self.assertEqual(check(one, "one").status, 200)
            self.assertEqual(check(two, "one").status, 429)
            self.assertEqual(two.metric("penstock_rollout_aborted"), 0)


class NearLimitTest(unittest.TestCase):
    def test_the_first_crossing_is_counted_and_logged_once_for_all_workers(self):
        with Daemon(rules("near_limit: 80%", limit="10/day fixed_window", workers=4)) as daemon:
            for _ in range(7):
                check(daemon, "ann")
            self.assertEqual(daemon.metric("penstock_near_limit_total"), 0)
            for _ in range(20):  # on connections of all workers
                check(daemon, "ann")
            self.assertEqual(daemon.metric("penstock_near_limit_total"), 1)
            self.assertEqual(daemon.output.count("a subject is near its limit"), 1)
            self.assertRegex(daemon.output, 'info a subject is near its limit rule="api/search" '
                                            'subject="user=ann" used="8" limit="10" reset_after=')
            for _ in range(10):
                check(daemon, "bob")
            self.assertEqual(daemon.metric('penstock_near_limit_total{rule="api/search"}'), 2)


if __name__ == "__main__":
    unittest.main()
