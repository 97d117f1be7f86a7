"""Rules and the daemon's behaviour under them, and the commands validate and explain."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from daemon import PROGRAM, SOURCE_DIR, Daemon, eventually
from redis_server import RedisServer

EXAMPLES = SOURCE_DIR / "examples"


def check(daemon, cost=1, domain="api", **attributes):
    body = {"domain": domain, "attributes": attributes, "cost": cost}
    return daemon.ask("POST", "/v1/check", body)


def statuses(daemon, times, **attributes):
    return [check(daemon, **attributes).status for _ in range(times)]


def run(*arguments):
    environment = {name: value for name, value in os.environ.items() if name != "PENSTOCK_STORE"}
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )


LISTS = """
domains:
  api:
    deny:
      - name: banned
        when: {client_ip: [203.0.113.0/24, "2001:db8:bad::/48"]}
    allow:
      - name: health
        when: {path: /healthz}
    rules:
      - name: all
        key: [client_ip]
        limit: 2/hour
"""


class ListsTest(unittest.TestCase):
    def test_the_deny_list_overrides_the_rules(self):
        with Daemon(LISTS) as daemon:
            for address in ("203.0.113.9", "2001:db8:bad:1::1", "::ffff:203.0.113.9"):
                answer = check(daemon, client_ip=address, path="/healthz")
                self.assertEqual((answer.status, answer.body["reason"]), (403, "deny_listed"), address)
                self.assertNotIn("retry-after", answer.fields)
            self.assertEqual(check(daemon, client_ip="203.0.114.1").status, 200)
            self.assertEqual(daemon.metric('penstock_requests_total{reason="deny_listed"}'), 3)

    def test_the_allow_list_overrides_the_rules_and_charges_nothing(self):
        with Daemon(LISTS) as daemon:
            self.assertEqual(statuses(daemon, 5, client_ip="10.0.0.1", path="/healthz"), [200] * 5)
            self.assertEqual(
                statuses(daemon, 3, client_ip="10.0.0.1", path="/x"), [200, 200, 429]
            )
            answer = check(daemon, client_ip="10.0.0.1", path="/healthz")
            self.assertEqual((answer.status, answer.body["reason"]), (200, "allow_listed"))


GATEWAY = """
gateway:
  listen: 127.0.0.1:0
  upstreams: {closed: {servers: ["http://127.0.0.1:9"]}}
  routes: [{upstream: closed}]
"""
KINDS = """
domains:
  api:
    rules:
      - name: tried
        when: {path: /shadow}
        shadow: true
        limit: 2/hour
      - name: enforced
        when: {path: /shadow}
        limit: 100/hour
      - name: greedy
        when: {path: /greedy}
        count_denied: true
        limit: 5/hour
      - name: lenient
        when: {path: /lenient}
        limit: 5/hour
      - name: free
        when: {path: /free}
        unlimited: true
      - name: not-free
        when: {path: /free, tier: none}
        limit: 1/hour
"""


class RuleKindsTest(unittest.TestCase):
    def test_a_shadow_rule_denies_nothing_and_is_counted(self):
        with Daemon(KINDS) as daemon:
            answers = [check(daemon, path="/shadow") for _ in range(6)]
            self.assertEqual({answer.status for answer in answers}, {200})
            self.assertEqual(answers[-1].body["rule"], "api/enforced")
            self.assertEqual(answers[-1].body["remaining"], 94)
            tried = next(each for each in answers[-1].body["limits"] if each["rule"] == "api/tried")
            self.assertEqual((tried["shadow"], tried["outcome"]), (True, "denied"))
            series = 'penstock_decisions_total{rule="api/tried",outcome="%s"}'
            self.assertEqual(daemon.metric(series % "shadow_denied"), 4)
            self.assertEqual(daemon.metric(series % "denied"), 0)
            self.assertEqual(daemon.metric("penstock_shadow_denied_total"), 4)

    def test_a_denial_charges_what_is_left_only_with_count_denied(self):
        with Daemon(KINDS) as daemon:
            for path, last in (("/greedy", 429), ("/lenient", 200)):
                self.assertEqual(check(daemon, cost=3, path=path).status, 200)
                self.assertEqual(check(daemon, cost=3, path=path).status, 429)
                self.assertEqual(check(daemon, cost=2, path=path).status, last, path)

    def test_unlimited_limits_nothing_and_lifts_no_other_limit(self):
        with Daemon(KINDS) as daemon:
            self.assertEqual(set(statuses(daemon, 200, path="/free")), {200})
            self.assertEqual(statuses(daemon, 2, path="/free", tier="none"), [200, 429])


TIERS = """
maps:
  tiers: {file: tiers.csv}
domains:
  api:
    attributes:
      tier: {map: tiers, by: api_key, default: free}
    rules:
      - {name: free, when: {tier: free}, key: [api_key], limit: 1/hour}
      - {name: gold, when: {tier: gold}, key: [api_key], limit: 100/hour}
"""


class MapTest(unittest.TestCase):
    def test_a_map_is_read_again_when_its_file_changes(self):
        with Daemon(TIERS, files={"tiers.csv": "alice,gold\n"}) as daemon:
            def tier(key, **claims):
                return check(daemon, cost=0, api_key=key, **claims).body["rule"]

            self.assertEqual((tier("alice"), tier("bob")), ("api/gold", "api/free"))
            self.assertEqual(tier("bob", tier="gold"), "api/free", "what a request claims counts nothing")
            file = daemon.folder / "tiers.csv"
            file.write_text("bob,gold\n", encoding="utf-8")
            self.assertTrue(eventually(lambda: tier("bob") == "api/gold"))
            self.assertEqual(tier("alice"), "api/free")
            file.write_text('"bob\n', encoding="utf-8")
            daemon.wait_for_output("tiers.csv")
            self.assertEqual(tier("bob"), "api/gold", "a bad file changes nothing")
            file.write_text("", encoding="utf-8")
            self.assertTrue(eventually(lambda: tier("bob") == "api/free"))


SEVERAL_LIMITS = """
STORE
domains:
  api:
    rules:
      - name: per-user
        key: [user]
        limits:
          few: {limit: 2/300d, algorithm: fixed_window}
          many: {limit: 50/day, algorithm: sliding_log}
      - name: everyone
        limit: 10/hour
        algorithm: anchored_window
      - name: address
        key: [client_ip]
        limit: 20/day
        algorithm: sliding_counter
"""


class SeveralLimitsTest(unittest.TestCase):
    def remaining(self, daemon, **attributes):
        """Remaining units by limit, by a peek."""
        answer = check(daemon, cost=0, **attributes)
        return {
            each["rule"].removeprefix("api/") + "/" + each.get("name", ""): each["remaining"]
            for each in answer.body["limits"]
        }

    def a_denial_charges_nothing(self, daemon):
        alice = {"user": "alice", "client_ip": "192.0.2.1"}
        self.assertEqual(statuses(daemon, 7, **alice), [200] * 2 + [429] * 5)
        left = {"per-user/few": 0, "per-user/many": 48, "everyone/": 8, "address/": 18}
        self.assertEqual(self.remaining(daemon, **alice), left)
        bob = {"user": "bob", "client_ip": "192.0.2.1"}
        left |= {"per-user/few": 2, "per-user/many": 50}
        self.assertEqual(self.remaining(daemon, **bob), left)
        denied = check(daemon, **alice)
        self.assertEqual(denied.body["violated-policies"], ["per-user/few"])

    def test_a_denial_charges_nothing_in_memory(self):
        with Daemon(SEVERAL_LIMITS.replace("STORE", "")) as daemon:
            self.a_denial_charges_nothing(daemon)

    def test_a_denial_charges_nothing_in_redis_and_no_key_is_left_behind(self):
        server = RedisServer()
        self.addCleanup(server.close)
        text = SEVERAL_LIMITS.replace("STORE", f"store: {{url: '{server.url}', timeout: 1s}}")
        with Daemon(text) as daemon:
            self.assertTrue(eventually(lambda: check(daemon, cost=0).status == 200))
            self.a_denial_charges_nothing(daemon)
            during = self.audit(server)
        self.assertEqual(
            {group["name"] for group in during["groups"] if group["kind"] == "limit"},
            {"api/per-user/few", "api/per-user/many", "api/everyone", "api/address"},
        )
        self.assertEqual(self.audit(server)["groups"], [
            group for group in during["groups"] if group["kind"] == "limit"
        ], "only counts outlive a daemon")

    def audit(self, server):
        result = run("audit", "--store", server.url, "--json")
        self.assertEqual(result.returncode, 0, result)
        found = json.loads(result.stdout)
        self.assertEqual((found["problems"], found["faults"], found["without_ttl"]), ([], {}, 0))
        for group in found["groups"]:
            del group["memory_estimate"]
        return found


class EnvoyTest(unittest.TestCase):
    def should(self, daemon, *entries, **more):
        listed = [{"key": key, "value": value} for key, value in entries]
        return daemon.ask(
            "POST", "/json", {"domain": "shop", "descriptors": [{"entries": listed}], **more}
        )

    def test_envoy_rules_are_served_over_json(self):
        with Daemon((EXAMPLES / "envoy-ratelimit.yaml").read_text(encoding="utf-8")) as daemon:
            for expected in (200, 200, 200, 429, 429):
                answer = self.should(daemon, ("login", "bob"))
                self.assertEqual(answer.status, expected)
                code = "OK" if expected == 200 else "OVER_LIMIT"
                self.assertEqual(answer.body["overallCode"], code)
                self.assertEqual(answer.body["statuses"][0]["code"], code)
                self.assertEqual(
                    answer.body["statuses"][0]["currentLimit"],
                    {"requestsPerUnit": 10, "unit": "MINUTE"},
                )
            self.assertEqual(self.should(daemon, ("login", "eve")).status, 200)
            self.assertEqual(self.should(daemon, ("remote_address", "203.0.113.66")).status, 429)
            nested = (("method", "POST"), ("path", "/orders/7"))
            self.assertEqual(self.should(daemon, *nested, hitsAddend=600).status, 200)
            shared = (("method", "POST"), ("path", "/orders/8"))
            self.assertEqual(self.should(daemon, *shared).status, 429)
            for _ in range(100):
                self.assertEqual(self.should(daemon, ("remote_address", "10.1.0.4")).status, 200)
            self.assertEqual(self.should(daemon, ("unknown", "x")).status, 200)


    def test_a_ban_is_over_limit_in_the_status_of_its_descriptor(self):
        with Daemon((EXAMPLES / "envoy-ratelimit.yaml").read_text(encoding="utf-8")) as daemon:
            answer = self.should(daemon, ("remote_address", "203.0.113.66"))
        self.assertEqual(answer.body["statuses"][0]["code"], "OVER_LIMIT")


class MetricsTest(unittest.TestCase):
    def test_the_daemon_shows_every_metric_of_the_document_and_no_other(self):
        text = (SOURCE_DIR / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
        described = set(re.findall(r"^\| `((?:penstock|process)_\w+)`", text, re.MULTILINE))
        rolled_out = """\
      - {name: rolled-out, when: {path: /rollout}, limit: 1/hour, enforce: 100%,
         abort: {denied_above: 5%}, near_limit: 80%}
"""
        with Daemon(KINDS + rolled_out + GATEWAY) as daemon:
            check(daemon, path="/shadow")
            check(daemon, path="/rollout")
            shown = re.findall(r"^# TYPE (\w+) ", daemon.admin("/metrics").body, re.MULTILINE)
        self.assertEqual(set(shown), described)
        self.assertEqual(len(shown), len(set(shown)))


class TopTest(unittest.TestCase):
    def shows(self, by, **numbers):
        """Whether /top eventually reports this for alice; workers publish periodically."""
        def said(daemon):
            for entry in daemon.admin(f"/top?by={by}&n=50").body["entries"]:
                if (entry["rule"], entry["subject"]) == ("api/per-user/few", "user=alice"):
                    return {name: entry[name] for name in numbers} == numbers
            return False

        with Daemon(SEVERAL_LIMITS.replace("STORE", "")) as daemon:
            for _ in range(20):
                check(daemon, user="alice")
            return eventually(lambda: said(daemon), timeout=20)

    def test_the_busiest_and_the_most_denied_are_named(self):
        self.assertTrue(self.shows("requests", requests=20))
        self.assertTrue(self.shows("denied", denied=18))

    def test_both_counts_are_exact(self):
        self.assertTrue(self.shows("requests", requests=20, denied=18))


class ValidateTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text, name="bad.yaml"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_the_examples_are_valid(self):
        for files in (["penstock.yaml"], ["quickstart.yaml"], ["envoy-ratelimit.yaml"],
                      ["envoy-ratelimit.yaml", "envoy-settings.yaml"]):
            result = run("validate", *(EXAMPLES / file for file in files))
            self.assertEqual((result.returncode, result.stderr), (0, ""), files)
            self.assertRegex(result.stdout, r"^ok: \d+ rules")

    def test_every_mistake_is_shown_with_file_and_line(self):
        path = self.write(
            "domains:\n  api:\n    rules:\n      - name: x\n        limit: 3/fortnight\n        lmit: 3\n"
        )
        result = run("validate", path)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(f'{path}:5:16: error: limit: "3/fortnight"', result.stderr)
        self.assertIn(f"{path}:6:9: error: unknown key 'lmit'; did you mean 'limit'?", result.stderr)
        self.assertIn("2 errors", result.stderr)
        result = run("validate", "--json", path)
        self.assertEqual((result.returncode, result.stderr), (2, ""))
        found = json.loads(result.stdout)
        self.assertFalse(found["valid"])
        places = [(each["severity"], each["line"], each["column"]) for each in found["diagnostics"]]
        self.assertEqual(places, [("error", 5, 16), ("error", 6, 9)])

    def test_files_that_cannot_be_used(self):
        missing = self.folder / "missing.yaml"
        broken = self.write("domains: [", "broken.yaml")
        for path in (missing, broken):
            result = run("validate", path)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(str(path), result.stderr)
        self.assertEqual(run("validate").returncode, 2)

    def test_a_domain_in_two_files_names_both(self):
        text = "domains: {api: {rules: [{name: a, limit: 1/s}]}}\n"
        one, two = self.write(text, "one.yaml"), self.write(text, "two.yaml")
        for arguments in ([one, two], [self.folder]):
            result = run("validate", *arguments)
            self.assertEqual(result.returncode, 2)
            for path in (one, two):
                self.assertIn(path.name, result.stderr)

    def test_a_warning_is_not_an_error(self):
        path = self.write("domain: d\ndescriptors:\n  - key: a\n    unit: second\n")
        result = run("validate", path)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("warning", result.stderr + result.stdout)


class ExplainTest(unittest.TestCase):
    CONFIGURATION = EXAMPLES / "penstock.yaml"

    def explain(self, *attributes, more=()):
        return run("explain", "--config", self.CONFIGURATION, "--domain", "api", *more, *attributes)

    def test_shows_which_rules_match_and_why_others_do_not(self):
        request = ("method=GET", "path=/v1/search/x", "api_key=abc", "client_ip=198.51.100.1")
        result = self.explain(*request)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("+ search-free (", result.stdout)
        self.assertIn('): path "/v1/search/x" is not /v1/complete', result.stdout)
        self.assertIn("api/search-free: 600/m burst 100, counted for api_key=abc", result.stdout)
        found = json.loads(self.explain(*request, more=("--json",)).stdout)
        matched = {each["rule"] for each in found["rules"] if each["matched"]}
        self.assertEqual(matched, {"search-free", "everyone"})

    def test_maps_and_overrides_are_looked_up(self):
        search = ("method=GET", "path=/v1/search/x")
        gold = self.explain(*search, "api_key=0d9f3c1e")
        self.assertIn('): tier "gold"', gold.stdout)
        denied = self.explain("client_ip=203.0.113.9")
        self.assertEqual(denied.returncode, 1)
        self.assertIn("On the deny list: banned", denied.stdout)

    def test_wrong_usage(self):
        self.assertEqual(self.explain("no-equals-sign").returncode, 2)
        result = run("explain", "--config", self.CONFIGURATION, "--domain", "apj", "path=/")
        self.assertIn("apj", result.stdout + result.stderr)

    def test_explain_shows_usage_of_a_running_daemon(self):
        with Daemon(KINDS) as daemon:
            asked = ("explain", "--server", daemon.url, "--domain", "api", "path=/free", "tier=none")
            for _ in range(2):  # explaining charges nothing
                result = run(*asked, "--json")
                self.assertEqual(result.returncode, 0, result)
                self.assertEqual(json.loads(result.stdout)["decision"]["remaining"], 1)
            self.assertEqual(check(daemon, path="/free", tier="none").status, 200)
            found = json.loads(run(*asked, "--json").stdout)
            self.assertEqual(found["decision"]["allowed"], False)
            shown = run(*asked).stdout
            self.assertRegex(shown, r"(?m)^  \+ \S+ \(\S+penstock.yaml:\d+\): applies$")
            self.assertRegex(shown, r"(?m)^      now: 0 of 1 left, .*: would deny$")
            self.assertTrue(shown.endswith("The request would be denied.\n"), shown)
            daemon.close()
            self.assertEqual(run(*asked).returncode, 3)

    def test_the_exit_code_is_1_when_a_running_daemon_would_deny(self):
        with Daemon(KINDS) as daemon:
            asked = ("explain", "--server", daemon.url, "--domain", "api", "path=/free", "tier=none")
            self.assertEqual(check(daemon, path="/free", tier="none").status, 200)
            self.assertEqual(run(*asked).returncode, 1)

if __name__ == "__main__":
    unittest.main()
