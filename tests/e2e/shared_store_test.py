"""Runs the built program, named by PENSTOCK_PROGRAM, on a real redis-server."""

import json
import os
import re
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from daemon import Daemon
from redis_server import RedisServer, free_port

PROGRAM = os.environ.get("PENSTOCK_PROGRAM", "")
FINE, DENIED, BAD_INPUT, UNAVAILABLE = 0, 1, 2, 3
PASSWORD = "open sesame"
NEEDS_STORE = {
    "peek": ["alice", "--limit", "5/m"],
    "reset": ["alice"],
    "block": ["alice", "--for", "1m"],
    "unblock": ["alice"],
    "audit": [],
    "verify": [],
}


def run(*arguments, store=None):
    unwanted = ("NO_COLOR", "TERM", "PENSTOCK_STORE", "PENSTOCK_SERVER")
    clean = {name: value for name, value in os.environ.items() if name not in unwanted}
    if store is not None:
        clean["PENSTOCK_STORE"] = store
    return subprocess.run(
        [PROGRAM, *arguments],
        env=clean,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


class SharedStoreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.server.call("FLUSHALL")

    def run_json(self, *arguments):
        result = run(*arguments, "--json", store=self.server.url)
        self.assertEqual(result.stderr, "", arguments)
        return result.returncode, json.loads(result.stdout)


class KeyTest(SharedStoreTest):
    def test_usage_outlives_the_program(self):
        for expected in (FINE, FINE, DENIED):
            result = run("check", "alice", "--limit", "2/day", "--store", self.server.url)
            self.assertEqual(result.returncode, expected, result)

    def test_the_store_may_come_from_the_environment(self):
        for expected in (FINE, DENIED):
            result = run("check", "alice", "--limit", "1/day", store=self.server.url)
            self.assertEqual(result.returncode, expected)

    def test_the_command_line_wins_over_the_environment(self):
        result = run("check", "a", "--limit", "1/s", "--store", "memory://", store="invalid")
        self.assertEqual(result.returncode, FINE)

    def test_peek_charges_nothing(self):
        for _ in range(3):
            code, decision = self.run_json("peek", "alice", "--limit", "1/day")
            self.assertEqual((code, decision["remaining"]), (FINE, 1))
        self.run_json("check", "alice", "--limit", "1/day")
        code, decision = self.run_json("peek", "alice", "--limit", "1/day")
        self.assertEqual((code, decision["outcome"]), (DENIED, "denied"))

    def test_reset(self):
        self.run_json("check", "alice", "--limit", "1/day")
        self.assertEqual(
            self.run_json("reset", "alice"), (FINE, {"key": "alice", "was_used": True})
        )
        self.assertEqual(self.run_json("reset", "alice")[1]["was_used"], False)
        self.assertEqual(self.run_json("check", "alice", "--limit", "1/day")[0], FINE)

    def test_named_limits_are_separate(self):
        named = ("alice", "--limit", "1/day", "--name", "daily")
        self.assertEqual(self.run_json("check", *named)[0], FINE)
        self.assertEqual(self.run_json("check", *named)[0], DENIED)
        self.assertEqual(self.run_json("peek", "alice", "--limit", "1/day")[0], FINE)
        self.assertEqual(self.run_json("reset", "alice")[1]["was_used"], False)
        self.assertEqual(self.run_json("reset", "alice", "--name", "daily")[1]["was_used"], True)

    def test_block_and_unblock(self):
        code, blocked = self.run_json("block", "mallory", "--for", "10m")
        self.assertEqual((code, blocked["blocked_for_us"]), (FINE, 600_000_000))
        code, decision = self.run_json("check", "mallory", "--limit", "5/s")
        self.assertEqual((code, decision["outcome"]), (DENIED, "blocked"))
        self.assertEqual(self.run_json("unblock", "mallory")[1]["was_blocked"], True)
        self.assertEqual(self.run_json("unblock", "mallory")[1]["was_blocked"], False)
        self.assertEqual(self.run_json("check", "mallory", "--limit", "5/s")[0], FINE)

    def test_a_block_may_apply_to_one_limit(self):
        named = ("api_key=abc", "--name", "api/search")
        self.assertEqual(self.run_json("block", *named, "--for", "10m")[0], FINE)
        code, decision = self.run_json("check", *named, "--limit", "5/s")
        self.assertEqual((code, decision["outcome"]), (DENIED, "blocked"))
        self.assertEqual(self.run_json("peek", *named, "--limit", "5/s")[0], DENIED)
        self.assertEqual(self.run_json("check", "api_key=abc", "--limit", "5/s")[0], FINE)
        self.assertEqual(self.run_json("unblock", "api_key=abc")[1]["was_blocked"], False)
        self.assertEqual(self.run_json("unblock", *named)[1]["was_blocked"], True)
        self.assertEqual(self.run_json("check", *named, "--limit", "5/s")[0], FINE)

    def test_a_rule_of_a_daemon_is_reached_by_its_name(self):
        rules = "store: {url: '%s', timeout: 1s}\n" % self.server.url + (
            "domains: {api: {rules: [{name: search, key: [user], limit: 1/day}]}}\n"
        )
        question = {"domain": "api", "attributes": {"user": "7"}}
        named = ("user=7", "--name", "api/search")
        with Daemon(rules) as daemon:
            ask = lambda: daemon.ask("POST", "/v1/check", question)[0]
            self.assertEqual([ask(), ask()], [200, 429])
            self.assertEqual(self.run_json("peek", *named, "--limit", "1/day")[0], DENIED)
            self.assertEqual(self.run_json("reset", *named)[1]["was_used"], True)
            self.assertEqual(ask(), 200)
            self.run_json("reset", *named)
            self.run_json("block", *named, "--for", "1h")
            self.assertEqual(ask(), 429)
            self.run_json("unblock", *named)
            self.assertEqual(ask(), 200)

    def test_prefixes_are_isolated(self):
        for prefix in ("one", "two"):
            code, _ = self.run_json("check", "alice", "--limit", "1/day", "--prefix", prefix)
            self.assertEqual(code, FINE)
        self.assertEqual(self.server.keys(), ["one:1:l:{alice}", "two:1:l:{alice}"])


class ErrorTest(SharedStoreTest):
    def assert_fails(self, result, code, *words):
        self.assertEqual(result.returncode, code, result)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith(("penstock ", "penstock-bench ")), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_the_memory_store_is_rejected(self):
        for command, arguments in NEEDS_STORE.items():
            result = run(command, *arguments, "--store", "memory://")
            self.assert_fails(result, BAD_INPUT, f" {command}: ", "memory://", "redis://")

    def test_a_store_is_required(self):
        for command, arguments in NEEDS_STORE.items():
            self.assert_fails(run(command, *arguments), BAD_INPUT, "--store")

    def test_bad_urls_are_rejected_and_not_repeated(self):
        for command, arguments in {**NEEDS_STORE, "check": ["a", "--limit", "1/s"]}.items():
            for url in ("tcp://u:secret@localhost", "redis://u:secret@localhost:0", "secret"):
                result = run(command, *arguments, store=url)
                self.assert_fails(result, BAD_INPUT)
                self.assertNotIn("secret", result.stderr)

    def test_an_unreachable_store_is_not_a_denial(self):
        url = f"redis://:secret@127.0.0.1:{free_port()}"
        for command, arguments in {**NEEDS_STORE, "check": ["a", "--limit", "1/s"]}.items():
            result = run(command, *arguments, store=url)
            self.assert_fails(result, UNAVAILABLE, "127.0.0.1")
            self.assertNotIn("secret", result.stderr)

    def test_a_server_that_does_not_answer_times_out(self):
        self.server.call("CLIENT", "PAUSE", "3000", "ALL")
        result = run("check", "a", "--limit", "1/s", "--timeout", "100ms", store=self.server.url)
        self.assert_fails(result, UNAVAILABLE)
        self.server.call("CLIENT", "UNPAUSE")

    def test_a_wrong_password_is_not_shown(self):
        server = RedisServer("--requirepass", PASSWORD)
        self.addCleanup(server.close)
        right = f"redis://:open%20sesame@127.0.0.1:{server.port}"
        self.assertEqual(run("check", "a", "--limit", "1/s", store=right).returncode, FINE)
        wrong = f"redis://:shibboleth@127.0.0.1:{server.port}"
        for command, arguments in {**NEEDS_STORE, "check": ["a", "--limit", "1/s"]}.items():
            result = run(command, *arguments, store=wrong)
            self.assert_fails(result, UNAVAILABLE, "AUTH")
            self.assertNotIn("shibboleth", result.stderr)

    def test_wrong_times(self):
        for value in ("", "10", "0s", "1.5s", "ten"):
            result = run("block", "a", "--for", value, store=self.server.url)
            self.assert_fails(result, BAD_INPUT, f'--for "{value}"')
            result = run("reset", "a", "--timeout", value, store=self.server.url)
            self.assert_fails(result, BAD_INPUT, f'--timeout "{value}"')


class AuditTest(SharedStoreTest):
    def fill(self):
        for key in ("alice", "bob"):
            self.run_json("check", key, "--limit", "5/h")
            self.run_json("check", key, "--limit", "50/day", "--name", "daily")

    def test_a_healthy_store_has_no_problems(self):
        self.fill()
        code, report = self.run_json("audit")
        self.assertEqual(code, FINE, report)
        self.assertEqual((report["keys"], report["without_ttl"]), (4, 0))
        groups = {(group["kind"], group["name"]): group["keys"] for group in report["groups"]}
        self.assertEqual(groups, {("limit", ""): 2, ("limit", "daily"): 2})
        [server] = report["servers"]
        self.assertEqual((server["role"], server["scripts"]), ("master", server["scripts_wanted"]))
        self.assertLess(abs(server["clock_skew_us"]), 1_000_000)
        self.assertIn("No problems found", run("audit", store=self.server.url).stdout)

    def test_keys_that_never_expire_are_found_and_repaired(self):
        self.fill()
        lasting = self.server.call("PTTL", "penstock:1:l:{bob}:daily")
        self.server.call("PERSIST", "penstock:1:l:{bob}:daily")
        self.server.call("HSET", "penstock:1:c:{sum}", "v", "7")
        code, report = self.run_json("audit")
        self.assertEqual((code, report["without_ttl"]), (DENIED, 2))
        code, report = self.run_json("audit", "--repair")
        self.assertEqual((code, report["repaired"], report["without_ttl"]), (FINE, 2, 0))
        self.assertAlmostEqual(
            self.server.call("PTTL", "penstock:1:l:{bob}:daily"), lasting, delta=60_000
        )
        self.assertGreater(self.server.call("TTL", "penstock:1:c:{sum}"), 364 * 86400)
        self.assertEqual(self.run_json("audit")[0], FINE)

    def test_a_busy_healthy_server_has_no_orphans(self):
        """Keys expire, are deleted and are written again during the audit."""
        self.run_json("check", "model", "--limit", "5/h")
        churn = """
            local state = redis.call('GET', 'penstock:1:l:{model}')
            for i = 1, 200 do
              local key = 'penstock:1:l:{' .. math.random(1, 3000) .. '}'
              local other = 'penstock:1:l:{' .. math.random(1, 3000) .. '}'
              redis.call('SET', key, state, 'PX', math.random(1, 40))
              redis.call('DEL', other)
            end"""
        enough = threading.Event()

        def keep_busy():
            while not enough.is_set():
                self.server.call("EVAL", churn, 0)

        busy = threading.Thread(target=keep_busy)
        busy.start()
        try:
            reports = [self.run_json("audit") for _ in range(40)]
        finally:
            enough.set()
            busy.join()
        self.assertEqual([report["problems"] for code, report in reports if code != FINE], [])
        self.assertGreater(sum(report["keys"] for _, report in reports), 1000)

    def test_unknown_keys_are_reported_and_not_repaired(self):
        self.server.call("SET", "penstock:1:l:{eve}", "gibberish")
        self.server.call("RPUSH", "penstock:1:l:{list}", "x")
        self.server.call("SET", "penstock:settings", "x")
        self.server.call("SET", "else", "x")
        code, report = self.run_json("audit", "--repair")
        self.assertEqual(code, DENIED)
        self.assertEqual(report["keys"], 3)
        self.assertEqual(
            report["faults"], {"unknown name": 1, "wrong type": 1, "unreadable state": 1}
        )
        self.assertEqual(self.server.call("GET", "penstock:1:l:{eve}"), "gibberish")
        self.assertGreater(self.server.call("TTL", "penstock:1:l:{eve}"), 86000)
        self.assertEqual(self.server.call("TTL", "penstock:settings"), -1)
        self.assertEqual(self.server.call("TTL", "else"), -1)

    def test_the_documented_acl_rules_are_sufficient_and_necessary(self):
        text = (Path(__file__).parents[2] / "docs/how-to/operations.md").read_text("utf-8")
        rules = re.search(r"^ACL SETUSER limiter on >password (.*)$", text, re.M)[1].split()
        more = re.search(r"`penstock audit` also needs\s+`([^`]*)`", text)[1].split()
        self.addCleanup(self.server.call, "ACL", "DELUSER", "auditor")
        url = f"redis://auditor:sesame@127.0.0.1:{self.server.port}"
        self.fill()
        for missing in ("", *more):
            given = rules + [rule for rule in more if rule != missing]
            self.server.call("ACL", "SETUSER", "auditor", "reset", "on", ">sesame", *given)
            self.server.call("PERSIST", "penstock:1:l:{bob}:daily")
            result = run("audit", "--repair", "--json", store=url)
            if missing and missing != "+memory|usage":
                self.assertEqual(result.returncode, UNAVAILABLE, missing)
                self.assertIn("NOPERM", result.stderr)
            else:
                self.assertEqual((result.returncode, result.stderr), (FINE, ""))
                self.assertEqual(json.loads(result.stdout)["repaired"], 1)

    def test_eviction_is_a_problem(self):
        self.server.call("CONFIG", "SET", "maxmemory", "100mb")
        self.server.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        self.addCleanup(self.server.call, "CONFIG", "SET", "maxmemory", "0")
        result = run("audit", store=self.server.url)
        self.assertEqual(result.returncode, DENIED)
        self.assertIn("allkeys-lru", result.stdout)

    def test_an_audit_reads_many_pages_at_a_bounded_rate(self):
        for number in range(1200):
            self.server.call("SET", f"penstock:1:c:{{{number}}}", "x", "EX", "1000")
        code, report = self.run_json("audit", "--rate", "5000")
        self.assertEqual((code, report["keys"]), (DENIED, 1200))
        self.assertEqual(report["faults"], {"wrong type": 1200})


class VerifyTest(SharedStoreTest):
    def test_every_case_is_exact_and_no_key_is_left(self):
        code, report = self.run_json(
            "verify", "--processes", "2", "--threads", "2", "--seconds", "1", "--algorithm", "gcra"
        )
        self.assertEqual((code, report["exact"], report["keys_without_ttl"]), (FINE, True, 0))
        self.assertEqual(len(report["cases"]), 4)
        for case in report["cases"]:
            self.assertEqual((case["over_admitted"], case["under_admitted"]), (0, 0), case)
            self.assertGreater(case["admitted"], 0)
            self.assertGreater(case["expected"], 0)
            self.assertGreater(case["utilisation"], 0.5)
        self.assertEqual(self.server.keys(), [])

    def test_every_demand_is_met_exactly(self):
        for demand in ("steady", "bursty", "idle"):
            for mode in ("exact", "local"):
                with self.subTest(demand=demand, mode=mode):
                    code, report = self.run_json(
                        "verify", "--mode", mode, "--demand", demand, "--processes", "2",
                        "--threads", "2", "--seconds", "2", "--algorithm", "fixed_window",
                    )
                    self.assertEqual((code, report["exact"]), (FINE, True), report)

    def test_every_mode_stays_within_its_bound_and_reports_its_utilisation(self):
        for mode in ("lease", "lease_strict", "adaptive"):
            with self.subTest(mode):
                code, report = self.run_json(
                    "verify", "--mode", mode, "--processes", "2", "--threads", "2", "--seconds", "2",
                    "--algorithm", "token_bucket",
                )
                self.assertEqual(report["keys_without_ttl"], 0)
                self.assertEqual((code, report["exact"]), (FINE, True), report)
                for case in report["cases"]:
                    self.assertEqual((case["over_admitted"], case["under_admitted"]), (0, 0), case)
                    self.assertGreater(case["admitted"], 0)
                    self.assertGreater(case["expected"], 0)
                    self.assertGreater(case["utilisation"], 0)
                self.assertEqual(self.server.keys(), [])

    def test_invalid_modes_are_rejected(self):
        result = run("verify", "--mode", "magic", store=self.server.url)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn('"magic"', result.stderr)
        result = run("verify", "--demand", "magic", store=self.server.url)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn('"magic"', result.stderr)
        result = run("verify", "--mode", "lease", "--algorithm", "sliding_log",
                     store=self.server.url)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn("sliding_log cannot be leased", result.stderr)

    def test_wrong_arguments(self):
        for option in ("--processes", "--threads", "--seconds"):
            result = run("verify", option, "0", store=self.server.url)
            self.assertEqual(result.returncode, BAD_INPUT)
            self.assertIn(f'{option} "0"', result.stderr)
        result = run("verify", "--algorithm", "magic", store=self.server.url)
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn('"magic"', result.stderr)


class BenchTest(SharedStoreTest):
    def bench(self, *arguments):
        result = run("bench", "store", "--store", self.server.url, "--keys", "300",
                     "--checks", "3000", "--timeout", "10s", "--json", *arguments)
        self.assertEqual((result.returncode, result.stderr), (FINE, ""), result)
        return json.loads(result.stdout)

    def test_reports_figures_of_penstock_and_of_the_baseline(self):
        report = self.bench("--limit", "10/day", "--batch", "64", "--baseline", "naive")
        for figures in (report, report["baseline"]):
            self.assertEqual(figures["admitted"] + figures["denied"], 3000)
            self.assertEqual((figures["failed"], figures["over_admitted"]), (0, 0))
            self.assertGreater(figures["redis_cpu_us_per_check"], 0)
            self.assertGreater(figures["cpu_ns_per_check"], 0)
        self.assertLess(report["round_trips_per_check"], 0.1)
        self.assertEqual(report["baseline"]["round_trips"], 3000)
        self.assertIn("redis_cpu_us_per_check", report["ratio"])
        self.assertEqual(self.server.keys(), [])

    def test_incr_allows_everything(self):
        report = self.bench("--baseline", "incr", "--threads", "2")
        self.assertEqual(report["baseline"]["admitted"], 3000)
        self.assertIsNone(report["baseline"]["over_admitted"])
        self.assertEqual(self.server.keys(), [])

    def test_keys_of_other_programs_are_kept(self):
        self.server.call("SET", "bench-mine", "mine")
        self.bench()
        self.assertEqual(self.server.keys(), ["bench-mine"])

    def test_a_leased_hot_key_needs_few_calls(self):
        result = run("bench", "modes", "--store", self.server.url, "--mode", "lease_strict",
                     "--limit", "100000/s", "--time", "1s", "--timeout", "10s", "--json")
        self.assertEqual((result.returncode, result.stderr), (FINE, ""), result)
        report = json.loads(result.stdout)
        self.assertEqual((report["failed"], report["over_admitted"]), (0, 0))
        self.assertGreater(report["admitted"], 100_000)
        self.assertLess(report["redis_calls_per_check"], 0.01)
        self.assertEqual(self.server.keys(), [])

    def test_unknown_baseline(self):
        result = run("bench", "store", "--store", self.server.url, "--baseline", "magic")
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn('"magic"', result.stderr)


if __name__ == "__main__":
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f'PENSTOCK_PROGRAM "{PROGRAM}": expected the path of the built program')
    unittest.main()
