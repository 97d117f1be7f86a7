"""The data of the operator's page: three daemons on one Redis, its outage, a bad reload on one of them; who may read it;
subjects with hostile names."""

import contextlib
import json
import signal
import time
import unittest
import urllib.parse

from daemon import SOURCE_DIR, Daemon, eventually
from redis_server import RedisServer
from server_process import require

RULES = """
domains:
  api:
    rules:
      - {name: search, key: user, limit: 5/h, on_failure: %s}
      - {name: free, key: user, limit: 3/h, shadow: true}
"""
HOSTILE = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'; DROP TABLE users; --", "a b", "a%20b", "{}[]",
    "ünïcödé ✓", "\u202eevil", "..\\..\\etc", "a\tb", "</textarea>", "${7*7}", "null", "x" * 300,
]


def redis(server, on_failure="open", more=""):
    return f"store: {{url: '{server.url}'}}\nserver: {{workers: 2{more}}}\n" + RULES % on_failure


def check(daemon, user):
    return daemon.ask("POST", "/v1/check", {"domain": "api", "attributes": {"user": user}}).status


def state(daemon):
    return daemon.admin("/state").body


def query(**parameters):
    return urllib.parse.urlencode(parameters)


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("redis-server")

    def test_three_daemons_are_one_fleet(self):
        with contextlib.closing(RedisServer()) as server:
            text = redis(server)
            with Daemon(text) as a, Daemon(text) as b, Daemon(text) as c:
                self.assertTrue(eventually(
                    lambda: len(state(a)["nodes"]) == 3 and state(a)["state"] == "enforcing"), state(a))
                told = state(a)
                self.assertEqual([node["is_this"] for node in told["nodes"]], [True, False, False])
                self.assertEqual(len({node["config_hash"] for node in told["nodes"]}), 1)
                self.assertEqual(told["store"]["kind"], "redis")
                self.assertEqual(told["store"]["breaker"], "closed")
                self.denials_of_all_nodes_are_summed(a, (a, b, c))
                self.a_bad_reload_marks_the_node(a, b, text)

    def denials_of_all_nodes_are_summed(self, page, daemons):
        for daemon in daemons:
            statuses = [check(daemon, "7") for _ in range(20)]
            self.assertIn(429, statuses)
        denied = 60 - 5
        self.assertTrue(eventually(lambda: sum(page.admin("/history").body["denied"]) == denied),
                        page.admin("/history").body)
        history = page.admin("/history?span=5m").body
        self.assertEqual(history["step_ms"], 1000)
        self.assertEqual(sum(history["shadow_denied"]), 5 - 3, "of the requests that were admitted")
        self.assertLess(sum(page.admin("/history?scope=node").body["denied"]), denied)
        since = history["from_ms"] + 1000 * len(history["denied"])
        self.assertLess(len(page.admin(f"/history?since_ms={since}").body["denied"]), 10)
        self.assertTrue(eventually(lambda: page.admin("/top?by=denied").body["entries"][0]["denied"] >= denied))
        top = page.admin("/top?by=denied&rule=api%2Fsearch").body["entries"][0]
        self.assertEqual((top["rule"], top["subject"]), ("api/search", "user=7"))
        self.assertGreater(top["share"], 0.9)
        new = page.admin("/top?by=new").body["entries"][0]
        self.assertEqual(new["subject"], "user=7")
        self.assertLess(abs(new["first_denied_ms"] / 1000 - time.time()), 60)
        rules = {rule["name"]: rule for rule in page.admin("/rules").body["rules"]}
        self.assertEqual(sum(rules["search"]["denied_recent"]), denied)
        self.assertEqual(rules["search"]["subjects_denied"], 1)
        self.assertTrue(rules["search"]["fleet"])
        self.assertGreater(rules["free"]["shadow_denied_per_s"], 0)
        subject = page.admin("/subject?" + query(domain="api", subject="user=7")).body
        self.assertRegex(subject["sentence"], r"^denied by api/search since \d\d:\d\d:\d\d, next request passes in \d+ s$")
        self.assertEqual(subject["recent_denials"][0]["rule"], "api/search")

    def a_bad_reload_marks_the_node(self, page, bad, text):
        (bad.folder / "penstock.yaml").write_text(text.replace("limit: 5/h", "limit: five"), encoding="utf-8")
        bad.signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: state(page)["state"] == "degraded"), state(page))
        told = state(page)
        failed = [node for node in told["nodes"] if node["reload_error"]]
        self.assertEqual(len(failed), 1)
        self.assertFalse(failed[0]["is_this"])
        self.assertTrue(any("reload failed" in reason for reason in told["reasons"]), told["reasons"])
        (bad.folder / "penstock.yaml").write_text(text.replace("limit: 5/h", "limit: 6/h"), encoding="utf-8")
        bad.signal(signal.SIGHUP)
        self.assertTrue(eventually(
            lambda: any("another configuration" in reason for reason in state(page)["reasons"])), state(page))
        (bad.folder / "penstock.yaml").write_text(text, encoding="utf-8")
        bad.signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: state(page)["state"] == "enforcing"), state(page))
        kinds = [mark["kind"] for mark in page.admin("/history").body["marks"]]
        self.assertIn("reload_failed", kinds)
        self.assertIn("reload", kinds)

    def outage(self, on_failure, expected):
        with contextlib.closing(RedisServer()) as server, Daemon(redis(server, on_failure)) as daemon:
            self.assertTrue(eventually(lambda: state(daemon)["state"] == "enforcing"), state(daemon))
            server.stop()
            self.assertTrue(eventually(lambda: (check(daemon, "1"), state(daemon)["state"])[1] == expected),
                            state(daemon))
            told = state(daemon)
            self.assertRegex(told["reasons"][0], r"Redis unreachable since \d\d:\d\d:\d\d: .+; ")
            self.assertFalse(told["store"]["serving"])
            check(daemon, "1")
            self.assertTrue(eventually(lambda: sum(daemon.admin("/history").body["without_store"]) > 0))
            server.start_again()
            self.assertTrue(eventually(lambda: state(daemon)["state"] == "enforcing"), state(daemon))
            self.assertTrue(eventually(
                lambda: [mark["kind"] for mark in daemon.admin("/history").body["marks"]]
                == ["start", "outage", "recovery"]), daemon.admin("/history").body["marks"])
            if on_failure == "open":
                excess = daemon.admin("/promises").body["modes"][0]["observed_excess"]
                self.assertGreater(excess, 0)

    def test_an_outage_with_rules_that_fail_open_is_not_enforcing(self):
        self.outage("open", "not_enforcing")

    def test_an_outage_with_the_local_fallback_is_degraded(self):
        self.outage("local", "degraded")


class Access(unittest.TestCase):
    CLOSED = ("/state", "/history", "/rules", "/top", "/promises", "/subject?domain=api&subject=user%3D1",
              "/v1/keys/user%3D1?domain=api")
    OPEN = ("/", "/healthz", "/readyz", "/metrics")

    def statuses(self, daemon, paths, **headers):
        return {daemon.ask("GET", path, headers=headers, port=daemon.admin_port).status for path in paths}

    def test_beyond_loopback_a_token_is_needed(self):
        text = "server: {tokens: {alice: sesame}}\n" + RULES % "open"
        with Daemon(text, admin=("--admin", "0.0.0.0:0")) as daemon:
            self.assertEqual(self.statuses(daemon, self.OPEN), {200})
            self.assertEqual(self.statuses(daemon, self.CLOSED), {401})
            self.assertEqual(self.statuses(daemon, self.CLOSED, Authorization="Bearer sesam"), {401})
            self.assertEqual(self.statuses(daemon, self.CLOSED, Authorization="Bearer sesame"), {200})
            (daemon.folder / "penstock.yaml").write_text(text.replace("sesame", "new"), encoding="utf-8")
            daemon.signal(signal.SIGHUP)
            self.assertTrue(eventually(
                lambda: self.statuses(daemon, self.CLOSED, Authorization="Bearer sesame") == {401}))

    def test_beyond_loopback_without_a_token_there_is_no_access(self):
        with Daemon(RULES % "open", admin=("--admin", "0.0.0.0:0")) as daemon:
            self.assertEqual(self.statuses(daemon, self.OPEN), {200})
            self.assertEqual(self.statuses(daemon, self.CLOSED), {403})
            told = daemon.ask("GET", "/state", port=daemon.admin_port).body
            self.assertIn("server.token", told["detail"])

    def test_on_loopback_pages_of_other_sites_neither_read_nor_write(self):
        with Daemon(RULES % "open") as daemon:
            own = f"127.0.0.1:{daemon.admin_port}"
            self.assertEqual(self.statuses(daemon, self.CLOSED), {200})
            self.assertEqual(self.statuses(daemon, self.CLOSED, Host=f"evil.example:{daemon.admin_port}"), {403})

            def block(**headers):
                return daemon.ask("POST", "/v1/keys/user%3D9/block", {"domain": "api", "for": "1m"}, headers,
                                  port=daemon.admin_port).status
            self.assertEqual(block(), 200)
            self.assertEqual(block(Origin=f"http://{own}"), 200)
            self.assertEqual(block(Origin="https://evil.example"), 403)
            self.assertEqual(block(Origin="null"), 403)
            self.assertEqual(check(daemon, "9"), 429, "the worker has blocked it")
            actions = daemon.ask("GET", "/v1/actions", port=daemon.admin_port).body["actions"]
            self.assertEqual([(each["action"], each["by"]) for each in actions], [("block", "local")] * 2)

    def test_the_page_is_served_as_it_is_in_the_repository(self):
        with Daemon(RULES % "open") as daemon:
            for file in (SOURCE_DIR / "web").rglob("*"):
                if file.suffix not in (".html", ".js", ".css", ".svg"):
                    continue
                path = "/" + str(file.relative_to(SOURCE_DIR / "web"))
                told = daemon.admin(path)
                self.assertEqual(told.status, 200, path)
                body = told.body if isinstance(told.body, str) else json.dumps(told.body)
                self.assertEqual(body, file.read_text(encoding="utf-8"), path)
                self.assertIn("default-src 'none'", told.fields["content-security-policy"])
                self.assertEqual(told.fields["x-content-type-options"], "nosniff")
                again = daemon.ask("GET", path, headers={"If-None-Match": told.fields["etag"]}, port=daemon.admin_port)
                self.assertEqual(again.status, 304)


class HostileSubjects(unittest.TestCase):
    def test_hostile_names_survive_as_json(self):
        with Daemon("server: {workers: 1}\n" + RULES % "open") as daemon:
            for name in HOSTILE:
                for _ in range(7):
                    check(daemon, name)
            self.assertTrue(eventually(
                lambda: len(daemon.admin("/top?by=denied&n=100").body["entries"]) == len(HOSTILE)))
            entries = daemon.admin("/top?by=new&n=100").body["entries"]
            subjects = {entry["subject"] for entry in entries}
            self.assertEqual(len(subjects), len(HOSTILE))
            for subject in subjects:
                told = daemon.admin("/subject?" + query(domain="api", subject=subject))
                self.assertEqual(told.status, 200)
                self.assertEqual(told.body["subject"], subject)
            rules = {rule["name"]: rule for rule in daemon.admin("/rules").body["rules"]}
            self.assertAlmostEqual(rules["search"]["subjects_denied"], len(HOSTILE), delta=2)

    def test_many_subjects_stay_bounded(self):
        with Daemon("server: {workers: 1}\n" + (RULES % "open").replace("5/h", "1/h")) as daemon:
            for start in range(0, 3000, 500):
                checks = [{"domain": "api", "attributes": {"user": f"<script>{number}"}}
                          for number in range(start, start + 500) for _ in range(2)]
                self.assertEqual(daemon.ask("POST", "/v1/checks", {"checks": checks}).status, 200)
            self.assertTrue(eventually(lambda: len(daemon.admin("/top?by=new&n=1000").body["entries"]) >= 500))
            self.assertLessEqual(len(daemon.admin("/top?by=new&n=1000").body["entries"]), 512)


if __name__ == "__main__":
    unittest.main()
