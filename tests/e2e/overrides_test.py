"""Live overrides and the action log: on three daemons with one Redis, on the memory store, through an outage, and on the
command line."""

import concurrent.futures
import json
import os
import re
import signal
import subprocess
import threading
import time
import unittest
from urllib.parse import quote

from daemon import PROGRAM, SOURCE_DIR, Daemon, eventually
from redis_groups import Cluster
from redis_server import RedisServer

PROMISED_MS = 50  # docs/explanation/guarantees.md
SLOW_MACHINE = 6  # times the promise, on a busy machine; without the change feed it takes half a second
LIMIT, RAISED = 5, 50


def configuration(store="", mode="exact", more="", workers=1):
    return (f"server: {{workers: {workers}}}\n{store}"
            "domains:\n"
            f"  api: {{mode: {mode}, rules: [{{name: search, key: [user], limit: {LIMIT}/h{more}}}]}}\n"
            "  login: {rules: [{name: ip, key: [client_ip], limits: {minute: 5/m, hour: 20/h}}]}\n"
            "  all: {rules: [{name: total, limit: 2/h}]}\n")


def check(daemon, user="42", domain="api", name="user"):
    body = {"domain": domain, "attributes": {name: user}}
    return daemon.ask("POST", "/v1/check", json.dumps(body)).status


def until_denied(daemon, user="42", most=500):
    return next((i for i in range(most) if check(daemon, user) != 200), most)


def set_override(daemon, rule="api/search", **members):
    return daemon.ask("POST", "/v1/overrides", json.dumps({"rule": rule, "for": "1h"} | members))


def remove_override(daemon, rule="api/search", subject=""):
    return daemon.ask("DELETE", f"/v1/overrides?rule={quote(rule)}&subject={quote(subject)}")


def listed(daemon):
    return daemon.ask("GET", "/v1/overrides").body["overrides"]


def actions(daemon, count=100):
    return daemon.ask("GET", f"/v1/actions?n={count}").body["actions"]


def quota(daemon, user="42"):
    body = {"domain": "api", "attributes": {"user": user}}
    return daemon.ask("POST", "/v1/explain", json.dumps(body)).body["decision"]["limits"][0]


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, encoding="utf-8", timeout=60, check=False, **more)


class OnTheMemoryStore(unittest.TestCase):
    store = ""

    def daemon(self, **more):
        return Daemon(configuration(self.store, **more))

    def test_limit_multiply_and_shadow(self):
        with self.daemon() as daemon:
            self.assertEqual(until_denied(daemon), LIMIT)
            self.assertEqual(set_override(daemon, subject="user=42", limit=f"{RAISED}/h").status, 200)
            self.assertEqual(until_denied(daemon), RAISED - LIMIT)
            usage = daemon.ask("GET", "/v1/usage?domain=api&user=42").body["limits"][0]
            self.assertEqual((usage["limit"], usage["override"]["limit"]), (RAISED, f"{RAISED}/h"))
            self.assertEqual(until_denied(daemon, "7"), LIMIT, "another subject")
            self.assertTrue(remove_override(daemon, subject="user=42").body["removed"])
            self.assertEqual(check(daemon), 429)
            set_override(daemon, multiply="2")
            self.assertEqual(until_denied(daemon, "8"), 2 * LIMIT)
            set_override(daemon, shadow=True)
            self.assertEqual(until_denied(daemon, "8", most=30), 30)
            remove_override(daemon)
            self.assertEqual(check(daemon, "8"), 429, "usage was counted")

    def test_all_workers_apply_it_when_it_is_answered(self):
        with self.daemon(workers=4) as daemon:
            for turn in range(1, 11):
                set_override(daemon, limit=f"{turn}/h")
                # Each on a new connection, which any worker may accept.
                for _ in range(8):
                    self.assertEqual(quota(daemon)["quota"], f"{turn}/h")
            remove_override(daemon)
            for _ in range(8):
                self.assertNotIn("override", quota(daemon))

    def test_it_ends_by_itself(self):
        with self.daemon() as daemon:
            made = set_override(daemon, subject="user=42", limit=f"{RAISED}/h", **{"for": "2s"}).body
            self.assertEqual(made["expires_at_ms"] - made["set_at_ms"], 2000)
            self.assertEqual(quota(daemon)["override"],
                             {"limit": f"{RAISED}/h", "expires_at_ms": made["expires_at_ms"]})
            while (before := time.time()) * 1000 < made["expires_at_ms"] - 100:
                shown = quota(daemon)
                if time.time() * 1000 < made["expires_at_ms"] - 100:
                    self.assertIn("override", shown, before)
            time.sleep(max(0, made["expires_at_ms"] / 1000 + 0.05 - time.time()))
            self.assertNotIn("override", quota(daemon))
            self.assertEqual(listed(daemon), [])

    def test_one_limit_of_several(self):
        with self.daemon() as daemon:
            answer = set_override(daemon, "login/ip", limit="9/m")
            self.assertEqual(answer.status, 400)
            self.assertIn("login/ip/minute", answer.body["detail"])
            self.assertEqual(set_override(daemon, "login/ip/minute", limit="9/m").status, 200)
            self.assertEqual(
                [limit["quota"] for limit in daemon.ask(
                    "POST", "/v1/explain",
                    {"domain": "login", "attributes": {"client_ip": "192.0.2.1"}}).body["decision"]["limits"]],
                ["9/m", "20/h"])

    def test_errors_name_the_value(self):
        with self.daemon() as daemon:
            for members, expected in (
                ({"rule": "api/none", "shadow": True}, '"api/none" is not loaded'),
                ({"rule": "search", "shadow": True}, '"search" must be a domain and a rule'),
                ({"subject": "42", "shadow": True}, '"42" is no key of rule "api/search"'),
                ({"limit": "lots"}, '"lots"'),
                ({"limit": "-5/m"}, "limit -5 must be at least 1"),
                ({"multiply": "0"}, '"0" must be above 0'),
                ({"multiply": "1e3"}, '"1e3"'),
                ({"shadow": True, "for": "31d"}, '"31d"'),
                ({"shadow": True, "limit": "5/m"}, "exactly one of limit, multiply and shadow"),
                ({"shadow": True, "subject": "user=" + "x" * 5000}, "5005 bytes; at most 4096"),
                ({"shadow": True, "reason": "x" * 501}, "501 bytes; at most 500"),
                ({"shadow": True, "until": "tomorrow"}, "until"),
            ):
                answer = set_override(daemon, **members)
                self.assertEqual(answer.status, 400, members)
                self.assertIn(expected, answer.body["detail"])
            self.assertEqual((listed(daemon), actions(daemon)), ([], []))

    def test_hostile_subjects(self):
        hostile = ('"\'', "<script>alert(1)</script>", "a&b=c%", "\u202e\u0000\r\n", "{}#:* ", "x" * 3000, "日本")
        with self.daemon() as daemon:
            for user in hostile:
                body = {"domain": "api", "attributes": {"user": user}}
                explained = daemon.ask("POST", "/v1/explain", body).body["decision"]["limits"][0]
                subject = explained["subject"]
                answer = set_override(daemon, subject=subject, limit="77/h", reason=f"because {user[:50]}")
                self.assertEqual(answer.status, 200, user)
                self.assertEqual(answer.body["subject"], subject)
                self.assertEqual(daemon.ask("POST", "/v1/explain", body).body["decision"]["limits"][0]["quota"], "77/h")
            self.assertEqual(len(listed(daemon)), len(hostile))
            self.assertEqual({each["subject"] for each in actions(daemon)}, {each["subject"] for each in listed(daemon)})
            self.assertEqual(daemon.metric("penstock_overrides"), len(hostile))
            shown = run("override", "list", "--server", daemon.url).stdout
            self.assertNotRegex(shown, r"[\x00-\x09\x0b-\x1f\x7f]")
            for each in listed(daemon):
                self.assertTrue(remove_override(daemon, subject=each["subject"]).body["removed"])
            self.assertEqual(daemon.metric("penstock_overrides"), 0)

    def test_the_1001st_is_rejected(self):
        with self.daemon() as daemon:
            for i in range(1000):
                self.assertEqual(set_override(daemon, subject=f"user={i}", multiply="2").status, 200)
            answer = set_override(daemon, subject="user=more", multiply="2")
            self.assertEqual(answer.status, 409)
            self.assertIn("there are 1000 overrides already", answer.body["detail"])
            self.assertEqual(set_override(daemon, subject="user=7", multiply="3").status, 200, "a replacement")
            self.assertEqual(len(listed(daemon)), 1000)
            self.assertEqual(len(actions(daemon, 1000)), 1000, "older actions are dropped")
            self.assertEqual(actions(daemon, 1)[0]["detail"], "multiply 3")

    def test_the_action_log_has_every_action(self):
        with self.daemon() as daemon:
            daemon.ask("POST", "/v1/keys/user%3D42/block", {"rule": "api/search", "for": "10m", "reason": "abuse"})
            daemon.ask("POST", "/v1/keys/user%3D42/unblock", {"domain": "api", "reason": "mistake"})
            daemon.ask("DELETE", "/v1/keys/user%3D42?rule=api/search&reason=again")
            set_override(daemon, subject="user=42", limit="9/h", reason="incident 12")
            daemon.ask("DELETE", "/v1/overrides?rule=api/search&subject=user%3D42&reason=over")
            log = actions(daemon)
            self.assertEqual(
                [(each["action"], each["rule"], each["domain"], each["detail"], each["reason"]) for each in log],
                [("override_remove", "api/search", "", "limit 9/h", "over"),
                 ("override_set", "api/search", "", "limit 9/h", "incident 12"),
                 ("reset", "api/search", "", "", "again"),
                 ("unblock", "", "api", "", "mistake"),
                 ("block", "api/search", "", "for 10m", "abuse")])
            self.assertEqual({(each["by"], each["subject"]) for each in log}, {("local", "user=42")})
            self.assertEqual(log[4]["expires_at_ms"] - log[4]["at_ms"], 600_000)

    def test_reading_needs_the_token_too(self):
        token = configuration(self.store).replace("workers: 1", "workers: 1, token: a-long-secret-token")
        with Daemon(token, listen="0.0.0.0:0") as daemon:
            self.assertEqual(set_override(daemon, shadow=True).status, 401)
            for path in ("/v1/overrides", "/v1/actions"):
                self.assertEqual(daemon.ask("GET", path).status, 401)
                with_token = {"Authorization": "Bearer a-long-secret-token"}
                self.assertEqual(daemon.ask("GET", path, headers=with_token).status, 200)

    def test_it_is_visible_in_rules_and_explain(self):
        with self.daemon() as daemon:
            set_override(daemon, subject="user=42", limit="9/h", reason="incident 12")
            rules = daemon.admin("/rules").body["rules"]
            shown = {rule["name"]: rule.get("overrides") for rule in rules}
            self.assertEqual(shown["search"], listed(daemon))
            self.assertIsNone(shown["total"])
            text = run("explain", "--server", daemon.url, "--domain", "api", "user=42").stdout
            self.assertRegex(text, r"9/h, counted for user=42, override: limit 9/h until 20\d\d-.* UTC")

    def test_a_reload_keeps_it(self):
        with self.daemon() as daemon:
            set_override(daemon, limit="9/h")
            daemon.configuration.write_text(configuration(self.store, more=", description: new"), encoding="utf-8")
            self.assertTrue(eventually(
                lambda: any(rule.get("description") == "new" for rule in daemon.admin("/rules").body["rules"])))
            self.assertTrue(eventually(lambda: quota(daemon)["quota"] == "9/h"))

    def test_the_command_line(self):
        with self.daemon() as daemon:
            server = {"env": {**os.environ, "PENSTOCK_SERVER": daemon.url}}
            made = run("override", "set", "api/search", "--subject", "user=42", "--limit", "9/h", "--for", "1h",
                       "--reason", "incident 12", **server)
            self.assertRegex(made.stdout, r"^api/search, user=42: limit 9/h until 20\d\d-.* UTC\n$")
            run("override", "set", "all/total", "--shadow", "--for", "15m", "--json", **server)
            table = run("override", "list", **server).stdout.splitlines()
            self.assertEqual(table[0].split(), ["rule", "subject", "override", "left", "by", "reason"])
            self.assertRegex(table[1], r"^all/total   -        shadow     \S.*  local$")
            self.assertRegex(table[2], r"^api/search  user=42  limit 9/h  \S.*local  incident 12$")
            as_json = json.loads(run("override", "list", "api/search", "--json", **server).stdout)
            self.assertEqual(as_json["overrides"], [each for each in listed(daemon) if each["subject"]])
            gone = run("override", "remove", "api/search", "--subject", "user=42", "--reason", "over", **server)
            self.assertEqual(gone.stdout, "api/search, user=42: limit 9/h removed\n")
            self.assertEqual(run("override", "remove", "api/search", **server).stdout, "there was no such override\n")
            run("block", "user=42", "--rule", "api/search", "--for", "1m", "--reason", "abuse", **server)
            log = run("actions", "--n", "3", **server).stdout.splitlines()
            self.assertEqual([line.split()[3] for line in log[1:]], ["block", "override_remove", "override_set"])
            self.assertTrue(log[1].endswith("abuse"))

    def test_wrong_usage_of_the_command_line(self):
        for arguments, expected in (
            (("set", "api/search", "--for", "1h", "--shadow"), "--server is required"),
            (("set", "api/search", "--for", "1h"), "exactly one of --limit, --multiply and --shadow"),
            (("set", "api/search", "--for", "31d", "--shadow"), '31d'),
            (("set", "--for", "1h", "--shadow"), "RULE is required"),
            (("sett",), "did you mean set?"),
        ):
            result = run("override", *arguments, env={**os.environ, "PENSTOCK_SERVER": ""})
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(expected, result.stderr)
        with self.daemon() as daemon:
            result = run("override", "set", "api/none", "--shadow", "--for", "1h", "--server", daemon.url)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn('rule: "api/none" is not loaded', result.stderr)


class OnRedis(OnTheMemoryStore):
    def setUp(self):
        self.server = RedisServer()
        self.addCleanup(self.server.close)
        self.store = f"store: {{url: '{self.server.url}', timeout: 5s}}\n"

    def test_every_key_expires(self):
        with self.daemon() as daemon:
            set_override(daemon, limit="9/h", **{"for": "90s"})
            self.assertEqual(self.server.call("TYPE", "penstock:1:o:{operators}:overrides"), "hash")
            self.assertTrue(0 < self.server.call("PTTL", "penstock:1:o:{operators}:overrides") <= 90_000)
            self.assertGreater(self.server.call("PTTL", "penstock:1:o:{operators}:actions"), 80 * 86_400_000)
            audit = run("audit", "--store", self.server.url, "--json")
            self.assertEqual(audit.returncode, 0, audit.stdout + audit.stderr)
            self.assertIn("overrides", audit.stdout)


    def test_missing_permissions_do_not_disturb_decisions(self):
        self.server.call("ACL", "SETUSER", "small", "reset", "on", ">sesame", "~*", "&*", "+@all", "-hgetall", "-hget")
        self.store = self.store.replace("redis://", "redis://small:sesame@")
        with self.daemon() as daemon:
            self.assertTrue(eventually(lambda: self.server.call("ACL", "LOG") != []), "the list was asked for")
            for i in range(20):
                answer = daemon.ask("POST", "/v1/check", {"domain": "api", "attributes": {"user": str(i)}})
                self.assertEqual((answer.status, answer.body["reason"]), (200, "within_limits"))
                time.sleep(0.05)
            answer = set_override(daemon, limit="9/h")
            self.assertEqual(answer.status, 503)
            self.assertIn("misconfigured", answer.body["detail"])
            daemon.wait_for_output("live overrides cannot be read: the last known stay")
            self.assertEqual(daemon.admin("/readyz").body["reasons"], [])

    def test_the_documented_permissions_are_enough(self):
        text = (SOURCE_DIR / "docs/how-to/operations.md").read_text(encoding="utf-8")
        rules = re.search(r"^ACL SETUSER limiter on >password (.*)$", text, re.M)[1].split()
        more = re.search(r"^The daemon also needs (.*?)In a cluster", text, re.M | re.S)[1]
        more = [rule for part in re.findall(r"`(\+[^`]*)`", more) for rule in part.split()]
        self.server.call("ACL", "SETUSER", "limiter", "reset", "on", ">sesame", *rules, *more)
        self.store = self.store.replace("redis://", "redis://limiter:sesame@")
        with self.daemon() as daemon:
            self.assertEqual(set_override(daemon, limit="9/h").status, 200)
            self.assertEqual(quota(daemon)["quota"], "9/h")
            self.assertTrue(remove_override(daemon).body["removed"])
            self.assertEqual(len(actions(daemon)), 2)
            self.assertEqual(self.server.call("ACL", "LOG"), [])


class OnThreeDaemons(unittest.TestCase):
    def setUp(self):
        self.server = RedisServer("--appendonly", "yes", "--appendfsync", "always")
        self.addCleanup(self.server.close)
        self.store = f"store: {{url: '{self.server.url}', timeout: 1s}}\n"

    def daemons(self, count=3, **more):
        started = [Daemon(configuration(self.store, **more)) for _ in range(count)]
        for daemon in started:
            self.addCleanup(daemon.close)
        return started

    def restart_redis(self):
        self.server.signal(signal.SIGTERM)
        self.server._process.wait()
        self.start_redis()

    def start_redis(self):
        self.server._process = subprocess.Popen(
            self.server._command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertTrue(self.server._is_up())
        self.assertTrue(eventually(self.has_loaded), "it loads its file")

    def has_loaded(self):
        try:
            return self.server.call("PING") == "PONG"
        except RuntimeError:
            return False

    def test_the_time_until_it_takes_effect_everywhere(self):
        first, *others = self.daemons()
        waits = []
        for turn in range(1, 31):
            started = time.monotonic()
            set_override(first, limit=f"{turn}/h")
            answered = time.monotonic()
            for daemon in others:
                self.assertTrue(eventually(lambda d=daemon, t=turn: quota(d)["quota"] == f"{t}/h", 10))
            waits.append(((answered - started) * 1000, (time.monotonic() - started) * 1000))
        in_order = sorted(total for _, total in waits)
        print(f"\noverride: answered after {sorted(a for a, _ in waits)[len(waits) // 2]:.1f} ms, "
              f"in force on 3 daemons after {in_order[len(waits) // 2]:.1f} ms, at most {in_order[-1]:.1f} ms "
              "(median and maximum of 30, with the calls that ask)")
        self.assertLess(in_order[len(waits) // 2], PROMISED_MS * SLOW_MACHINE)

    def test_no_daemon_admits_more_than_the_loosest_limit(self):
        for mode in ("exact", "lease_strict"):
            with self.subTest(mode=mode):
                daemons = self.daemons(mode=mode)
                user = f"user-{mode}"
                admitted = 0
                for turn in range(6):
                    if turn % 3 == 0:
                        set_override(daemons[turn % 3], subject=f"user={user}", limit=f"{RAISED}/h")
                    elif turn % 3 == 1:
                        set_override(daemons[turn % 3], subject=f"user={user}", multiply="2")
                    else:
                        remove_override(daemons[turn % 3], subject=f"user={user}")
                    for daemon in daemons:
                        admitted += until_denied(daemon, user, most=RAISED)
                self.assertLessEqual(admitted, RAISED)
                # Strict leases may leave a part of the limit with a holder until they expire.
                self.assertGreaterEqual(admitted, RAISED if mode == "exact" else LIMIT)

    def test_clients_of_all_daemons_while_an_override_changes(self):
        for mode in ("exact", "lease_strict"):
            with self.subTest(mode=mode):
                daemons = self.daemons(mode=mode)
                user = f"busy-{mode}"
                stop = threading.Event()

                def client(daemon, user=user, stop=stop):
                    admitted = 0
                    while not stop.is_set():
                        admitted += check(daemon, user) == 200
                    return admitted

                with concurrent.futures.ThreadPoolExecutor() as pool:
                    clients = [pool.submit(client, daemon) for daemon in daemons for _ in range(2)]
                    for turn in range(12):
                        effect = ({"limit": "20/h"}, {"multiply": "3"}, {"limit": f"{RAISED}/h"})[turn % 3]
                        self.assertEqual(set_override(daemons[turn % 3], subject=f"user={user}", **effect).status, 200)
                        if turn % 4 == 3:
                            remove_override(daemons[0], subject=f"user={user}")
                    set_override(daemons[0], subject=f"user={user}", limit=f"{RAISED}/h")
                    # One unit refills in 72 s: in the end the loosest limit is used up, and no more was admitted.
                    eventually(lambda: all(check(daemon, user) != 200 for daemon in daemons), 5)
                    stop.set()
                    admitted = sum(each.result() for each in clients)
                self.assertLessEqual(admitted, RAISED)

    def test_a_raised_limit_counts_at_once_beside_leases_and_cached_denials(self):
        for mode in ("exact", "lease", "lease_strict", "adaptive"):
            with self.subTest(mode=mode):
                first, second, third = self.daemons(mode=mode)
                user = f"u-{mode}"
                for daemon in (first, second, third):
                    until_denied(daemon, user)
                    self.assertEqual(check(daemon, user), 429, "and the denial is cached")
                set_override(first, subject=f"user={user}", limit="1000/h")
                self.assertEqual(check(first, user), 200)
                for daemon in (second, third):
                    self.assertTrue(eventually(lambda d=daemon: check(d, user) == 200, 0.9), "before a cached denial ends")

    def test_a_lowered_limit_counts_at_once_beside_leases(self):
        for mode in ("exact", "lease_strict"):
            with self.subTest(mode=mode):
                first, second, _ = self.daemons(mode=mode)
                user = f"low-{mode}"
                for _ in range(3):
                    self.assertEqual(check(first, user), 200)
                set_override(second, subject=f"user={user}", limit="1/h")
                self.assertEqual(check(second, user), 429)
                self.assertTrue(eventually(lambda d=first: check(d, user) == 429, 5))

    def test_redis_restarts_with_its_append_only_file(self):
        first, second, _ = self.daemons()
        before = set_override(first, subject="user=42", limit="77/h", reason="incident 12").body
        self.restart_redis()
        self.assertTrue(eventually(lambda: first.ask("GET", "/v1/overrides").status == 200, 20))
        self.assertEqual(listed(first), [before])
        self.assertEqual([each["reason"] for each in actions(first)], ["incident 12"])
        self.assertEqual(quota(second)["quota"], "77/h")
        with Daemon(configuration(self.store)) as late:
            self.assertTrue(eventually(lambda: quota(late)["quota"] == "77/h", 10), "a daemon that starts later")

    def test_without_redis_the_last_known_stay_until_they_expire(self):
        first, second, _ = self.daemons()
        set_override(first, subject="user=long", limit="77/h")
        made = set_override(first, subject="user=42", limit="77/h", **{"for": "6s"}).body
        self.assertTrue(eventually(lambda: quota(second)["quota"] == "77/h"))
        self.server.stop()
        self.assertEqual(quota(second)["quota"], "77/h")
        self.assertIn(set_override(first, shadow=True).status, (503,))
        self.assertEqual(listed_status(second), 503)
        self.assertLess(time.time() * 1000, made["expires_at_ms"], "the machine is too slow for this test")
        self.assertTrue(eventually(lambda: quota(second)["quota"] == f"{LIMIT}/h", 10), "it expired")
        self.assertGreaterEqual(time.time() * 1000, made["expires_at_ms"] - 100)
        self.assertEqual(quota(second, "long")["quota"], "77/h")
        # Removed while the daemons could not read it.
        self.start_redis()
        self.server.call("DEL", "penstock:1:o:{operators}:overrides")
        for daemon in (first, second):
            self.assertTrue(eventually(lambda d=daemon: quota(d, "long")["quota"] == f"{LIMIT}/h", 20), "read again")

    def test_a_lost_message_is_made_up_for(self):
        first, second, _ = self.daemons()
        set_override(first, limit="9/h")
        self.assertTrue(eventually(lambda: quota(second)["quota"] == "9/h"))
        # As if the message of a removal had been lost: nothing is published.
        self.server.call("DEL", "penstock:1:o:{operators}:overrides")
        self.assertTrue(eventually(lambda: quota(second)["quota"] == f"{LIMIT}/h", 10))


class OnACluster(unittest.TestCase):
    def test_an_override_reaches_every_daemon(self):
        cluster = Cluster()
        self.addCleanup(cluster.close)
        text = configuration(f"store: {{url: '{cluster.url}', timeout: 2s}}\n")
        with Daemon(text) as first, Daemon(text) as second:
            self.assertTrue(eventually(lambda: set_override(first, limit="9/h").status == 200))
            self.assertTrue(eventually(lambda: quota(second)["quota"] == "9/h"))
            self.assertTrue(remove_override(second).body["removed"])
            self.assertTrue(eventually(lambda: quota(first)["quota"] == f"{LIMIT}/h"))
            self.assertEqual([each["action"] for each in actions(first)], ["override_remove", "override_set"])


def listed_status(daemon):
    return daemon.ask("GET", "/v1/overrides").status


if __name__ == "__main__":
    unittest.main()
