"""`penstock replay`: logs of real servers' formats through rules, reports in all forms, and its errors. The program
is named by PENSTOCK_PROGRAM."""

import gzip
import json
import resource
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from daemon import PROGRAM, ask, eventually
from gateway_setup import GATEWAY, RawUpstream, gateway, small_answers

BAD_INPUT = 2
RULES = """
domains:
  web:
    rules:
      - {name: login, when: {path: /login}, key: [client_ip], limit: 2/m, algorithm: fixed_window}
"""
STRICTER = RULES.replace("2/m", "1/m")


def combined(second, client, path="/login"):
    clock = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(1791640500 + second))
    return f'{client} - - [{clock}] "GET {path} HTTP/1.1" 200 5 "-" "curl/8"\n'


class ReplayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("new.yaml", RULES)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def run_replay(self, *arguments, stdin=b""):
        return subprocess.run(
            [PROGRAM, "replay", "--config", "new.yaml", *arguments], cwd=self.folder, input=stdin, capture_output=True,
            timeout=120, check=False,
        )

    def report(self, *arguments, stdin=b""):
        result = self.run_replay("--json", *arguments, stdin=stdin)
        self.assertEqual((result.returncode, result.stderr), (0, b""), result)
        return json.loads(result.stdout)

    def test_says_how_many_who_when_and_how_long(self):
        lines = "".join(combined(second, "192.0.2.7") for second in range(10)) + combined(5, "192.0.2.8")
        self.write("access.log", lines)
        report = self.report("access.log")
        self.assertEqual((report["requests"], report["denied"]), (11, 8))
        self.assertEqual(report["rules"][0]["denied"], 8)
        self.assertEqual(report["subjects"][0]["subject"], "client_ip=192.0.2.7")
        self.assertEqual(report["subjects"][0]["longest_span_ms"], 7000)
        self.assertEqual(report["timeline"]["denied"], [0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
        text = self.run_replay("access.log").stdout.decode()
        for part in ("11 requests from 2026-10-10 13:55:00 to 2026-10-10 13:55:09 UTC", "8 denied (72.72 %)",
                     "client_ip=192.0.2.7", "1 s per column", "the longest 7 s"):
            self.assertIn(part, text)

    def test_merges_files_gzip_and_standard_input(self):
        self.write("a.log", combined(0, "192.0.2.7") + combined(20, "192.0.2.7"))
        self.write("b.log.gz", gzip.compress((combined(10, "192.0.2.7")).encode()))
        stdin = (combined(5, "192.0.2.8") + combined(30, "192.0.2.7")).encode()
        report = self.report("a.log", "b.log.gz", "-", stdin=stdin)
        self.assertEqual((report["requests"], report["denied"]), (5, 2))
        self.assertEqual([log["format"] for log in report["logs"]], ["combined"] * 3)
        self.assertEqual(report["subjects"][0]["first_ms"], 1791640520000)

    def test_compares_with_the_old_rules(self):
        self.write("old.yaml", STRICTER)
        self.write("access.log", "".join(combined(second, "192.0.2.7") for second in range(4)))
        difference = self.report("--against", "old.yaml", "access.log")["difference"]
        self.assertEqual(difference["denied_before"], 3)
        self.assertEqual(difference["newly_denied"]["requests"], 0)
        self.assertEqual(difference["no_longer_denied"]["requests"], 1)
        self.assertIn("1 no longer denied", self.run_replay("--against", "old.yaml", "access.log").stdout.decode())

    def test_suggests_limits(self):
        lines = "".join(combined(0, f"198.51.100.{client}") for client in range(99))
        self.write("access.log", lines + "".join(combined(second, "192.0.2.7") for second in range(1, 9)))
        suggestion = self.report("--suggest", "access.log")["suggestions"][0]
        self.assertEqual((suggestion["subjects"], suggestion["subjects_above"]), (100, 1))
        self.assertEqual(suggestion["limits"][0], {"per_mille": 990, "peak": 1, "limit": 1, "subjects_above": 1})
        self.assertEqual(suggestion["limits"][-1], {"per_mille": 1000, "peak": 8, "limit": 10, "subjects_above": 0})

    def test_redacts_subjects_in_every_form(self):
        self.write("access.log", "".join(combined(second, "192.0.2.7") for second in range(5)))
        self.write("key", "secret\n")
        for option in (["--redact"], ["--redact-key", "key"]):
            for form in ([], ["--json"]):
                result = self.run_replay(*option, *form, "--html", "report.html", "access.log")
                page = (self.folder / "report.html").read_text(encoding="utf-8")
                for text in (result.stdout.decode(), page):
                    self.assertNotIn("192.0.2.7", text)
                    self.assertIn("client_ip=#", text)
        hashes = {self.report("--redact-key", "key", "access.log")["subjects"][0]["subject"] for _ in range(2)}
        self.assertEqual(len(hashes), 1)
        hashes = {self.report("--redact", "access.log")["subjects"][0]["subject"] for _ in range(2)}
        self.assertEqual(len(hashes), 2)

    def test_page_is_self_contained_and_escapes_subjects(self):
        self.write("new.yaml", "domains: {web: {rules: [{name: r, key: [header.user-agent], limit: 1/h}]}}")
        hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>"
        lines = [{"time": 1791640500 + i, "path": "/", "header": {"user-agent": hostile}} for i in range(3)]
        self.write("access.json", "".join(json.dumps(line) + "\n" for line in lines))
        self.assertEqual(self.run_replay("--html", "report.html", "access.json").returncode, 0)
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt;", page)
        for forbidden in ("<script", "<img", "<link", "http://", "https://", "url("):
            self.assertNotIn(forbidden, page)

    def test_shows_bad_lines_with_their_place(self):
        self.write("access.log", combined(0, "a") + "garbage\n" + "x" * 2_000_000 + "\n" + combined(1, "a"))
        report = self.report("access.log")
        self.assertEqual(report["lines"]["malformed"], 2)
        text = self.run_replay("access.log").stdout.decode()
        self.assertIn("access.log:2: no [time] in brackets", text)
        self.assertIn("access.log:3: longer than 1 MiB", text)

    def test_names_the_file_of_an_error(self):
        self.write("garbage.log", "garbage\n")
        self.write("old.yaml", RULES.replace("web:", "site:"))
        self.write("cut.gz", gzip.compress(combined(0, "a").encode())[:-4])
        for arguments, message in (
            (["missing.log"], "missing.log: No such file or directory"),
            (["."], ".: is a directory"),
            (["garbage.log"], "garbage.log: the first lines are in no known format; use --format and --map"),
            (["--format", "combined", "garbage.log"], "garbage.log:1: no [time] in brackets; no line is a request"),
            (["cut.gz"], "cut.gz: gzip: the file is truncated"),
            (["--format", "iis", "x"], '--format: "iis" must be one of auto, combined, '),
            (["--map", "x", "x"], '--map: "x" must be ATTRIBUTE=FIELD'),
            (["--against", "old.yaml", "x"], '--against: the configuration has no domain "web", only site'),
            (["--domain", "other", "x"], '--domain: the configuration has no domain "other", only web'),
        ):
            result = self.run_replay(*arguments)
            self.assertEqual(result.returncode, BAD_INPUT, result)
            self.assertIn(message, result.stderr.decode())

    def test_reads_a_gzip_bomb_in_bounded_memory_and_time(self):
        with gzip.open(self.folder / "bomb.gz", "wb") as bomb:
            for _ in range(512):
                bomb.write(b"a" * (1 << 20))
        result = self.run_replay("--format", "combined", "bomb.gz")
        self.assertEqual(result.returncode, BAD_INPUT, result)
        self.assertIn("bomb.gz:1: longer than 1 MiB; no line is a request", result.stderr.decode())
        # the largest of all programs that the tests have run so far
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 256 << 10)

    def test_reads_the_log_of_one_client_that_compresses_well(self):
        log = (combined(0, "192.0.2.7") * 300_000).encode()
        zipped = gzip.compress(log, 9)
        self.assertGreater(len(log), 250 * len(zipped))
        self.write("attack.gz", zipped)
        self.assertEqual(self.report("attack.gz")["requests"], 300_000)

    def test_bounds_the_memory_of_one_line(self):
        values = ",".join(['""'] * 250_000)
        line = f'{{"ts":1791640500,"request":{{"uri":"/login","client_ip":"a","headers":{{"X-Forwarded-For":[{values}]}}}}}}'
        self.write("caddy.log", line + "\n")
        self.assertEqual(self.report("--format", "caddy", "caddy.log")["requests"], 1)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 256 << 10)

    def test_warns_of_an_attribute_that_the_log_lacks(self):
        self.write("new.yaml", "domains: {web: {rules: [{name: r, key: [header.x-api-key], limit: 1/h}]}}")
        self.write("access.log", combined(0, "a"))
        self.assertEqual(
            self.report("access.log")["warnings"],
            ["web/r uses header.x-api-key, which no request of the log has"],
        )

    def test_denies_what_the_gateway_denied_when_its_own_log_is_replayed(self):
        rules = "domains" + GATEWAY.format(port=0, more="", workers=1, upstream="", servers="").split("domains")[1]
        self.write("new.yaml", rules)
        upstream = RawUpstream(small_answers)
        self.addCleanup(upstream.close)
        for style in ("combined", "json"):
            with gateway([upstream.port], more=f"access_log: {{format: {style}, path: access.log}}") as daemon:
                answers = [ask(daemon.gateway_port, "GET", path).status
                           for path in ["/limited/a", "/limited/%61?x", "/limited//a", "/limited/b/../a", "/limited/b", "/"] * 2]
                log = daemon.folder / "access.log"
                self.assertTrue(eventually(lambda: log.exists() and log.read_text().count("\n") == len(answers)))
                self.write(f"{style}.log", log.read_bytes())
            report = self.report(f"{style}.log")
            self.assertEqual(answers.count(429), 5)
            self.assertEqual((report["requests"], report["denied"]), (len(answers), 5), style)


if __name__ == "__main__":
    unittest.main()
