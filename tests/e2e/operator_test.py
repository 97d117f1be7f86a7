"""Operator commands on a running daemon, with the program named by PENSTOCK_PROGRAM: peek, reset, block, unblock and
top. State is in the daemon's memory store."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from daemon import PROGRAM, Daemon
from process_signal import send_signal

FINE, DENIED, BAD_INPUT, UNAVAILABLE = 0, 1, 2, 3
RULES = """
domains:
  api:
    rules:
      - name: search
        when: {path: /search}
        key: [user]
        limits:
          minute: {limit: 3/hour, algorithm: anchored_window}
          day: 1000/day
      - name: login
        when: {path: /login}
        key: [user]
        limit: 2/hour
      - {name: everyone, when: {path: /all}, limit: 1000/hour}
"""
ON_A_KEY = {
    "peek": ["alice", "--limit", "5/m"],
    "reset": ["alice"],
    "block": ["alice", "--for", "1m"],
    "unblock": ["alice"],
}


def run(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    return subprocess.run(
        [PROGRAM, *arguments], env={**clean, **environment}, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )


class Terminal:
    """The program on a pseudoterminal of 24 lines with 100 columns."""

    def __init__(self, *arguments, **extra):
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            [PROGRAM, *arguments], env={**clean, "TERM": "xterm", **extra}, stdin=self._theirs, stdout=self._theirs,
            stderr=self._theirs, start_new_session=True)
        self.text = ""
        self._seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def _read(self, timeout):
        if select.select([self._ours], [], [], timeout)[0]:
            self.text += os.read(self._ours, 65536).decode("utf-8", "replace")

    def expect(self, *words):
        """Waits until each appears, with or without its colours, after what was expected before."""
        deadline = time.monotonic() + 20
        for word in words:
            while word not in (new := self.text[self._seen:]) and word not in re.sub(r"\x1b\[[0-9;]*m", "", new):
                if time.monotonic() > deadline:
                    raise AssertionError(f"{word!r} does not appear in {new!r}")
                self._read(0.2)
        self._seen = len(self.text)

    def type(self, keys):
        os.write(self._ours, keys.encode())

    def wait(self):
        deadline = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        self._read(0.2)
        return self.process.wait(1)

    def echoes(self):
        mode = termios.tcgetattr(self._theirs)[3]
        return bool(mode & termios.ECHO) and bool(mode & termios.ICANON)

    def is_restored(self):
        return self.text.rindex("\x1b[?1049l") > self.text.rindex("\x1b[?1049h") and "\x1b[?25h" in self.text


class OperatorTest(unittest.TestCase):
    configuration = RULES

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(cls.configuration)
        cls.addClassCleanup(cls.daemon.close)

    def run_json(self, command, *arguments):
        result = run(command, "--json", "--server", self.daemon.url, *arguments)
        self.assertEqual(result.stderr, "", arguments)
        return result.returncode, [json.loads(line) for line in result.stdout.splitlines()]

    def ask(self, user, path="/search"):
        body = {"domain": "api", "attributes": {"path": path, "user": user}}
        return self.daemon.ask("POST", "/v1/check", body)[0]

    def assert_fails(self, result, code, *words):
        self.assertEqual((result.returncode, result.stdout), (code, ""), result)
        self.assertTrue(result.stderr.startswith("penstock "), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class PlainKeyTest(OperatorTest):
    def test_check_charges_the_daemon(self):
        before = self.daemon.metric('penstock_listener_requests_total{listener="http"}')
        for left in (1, 0):
            code, [decision] = self.run_json("check", "a/b c", "--limit", "2/day")
            self.assertEqual((code, decision["remaining"]), (FINE, left))
        code, [decision] = self.run_json("check", "a/b c", "--limit", "2/day")
        self.assertEqual((code, decision["outcome"], decision["key"]), (DENIED, "denied", "a/b c"))
        self.assertGreater(decision["retry_after_us"], 11 * 3600 * 1_000_000)
        deadline = time.monotonic() + 10
        while self.daemon.metric('penstock_listener_requests_total{listener="http"}') < before + 3:
            self.assertLess(time.monotonic(), deadline, "/v1/take is not among the requests")
            time.sleep(0.05)

    def test_a_check_has_the_same_fields_wherever_it_is_decided(self):
        [here] = run("check", "same", "--limit", "5/m", "--json").stdout.splitlines()
        _, [there] = self.run_json("check", "same", "--limit", "5/m")
        self.assertEqual(json.loads(here), there)

    def test_every_outcome_of_a_check(self):
        code, decisions = self.run_json("check", "turns", "--limit", "2/h", "--repeat", "3")
        self.assertEqual([d["outcome"] for d in decisions], ["allowed", "allowed", "denied"])
        self.assertEqual(code, DENIED)
        code, [decision] = self.run_json("check", "big", "--limit", "2/h", "--cost", "3")
        self.assertEqual((code, decision["outcome"]), (DENIED, "never_fits"))
        self.assertIsNone(decision["retry_after_us"])
        result = run("check", "text", "--limit", "5/m gcra", "--server", self.daemon.url)
        self.assertEqual(result.returncode, FINE)
        for words in ("allowed\n", "5 per 1 min", "gcra", "4 of 5"):
            self.assertIn(words, result.stdout)

    def test_peek_charges_nothing(self):
        for _ in range(3):
            code, [decision] = self.run_json("peek", "peeked", "--limit", "1/day")
            self.assertEqual((code, decision["remaining"]), (FINE, 1))
        self.run_json("check", "peeked", "--limit", "1/day")
        code, [decision] = self.run_json("peek", "peeked", "--limit", "1/day")
        self.assertEqual((code, decision["outcome"]), (DENIED, "denied"))

    def test_reset(self):
        self.run_json("check", "again", "--limit", "1/day")
        self.assertEqual(self.run_json("reset", "again"), (FINE, [{"key": "again", "was_used": True}]))
        self.assertEqual(self.run_json("reset", "again")[1][0]["was_used"], False)
        self.assertEqual(self.run_json("check", "again", "--limit", "1/day")[0], FINE)
        result = run("reset", "again", "--server", self.daemon.url)
        self.assertEqual(result.stdout, "again: usage reset\n")

    def test_block_and_unblock(self):
        code, [blocked] = self.run_json("block", "mallory", "--for", "36500d")
        self.assertEqual((code, blocked["blocked_for_us"]), (FINE, 36_500 * 86_400 * 1_000_000))
        result = run("block", "mallory", "--for", "10m", "--server", self.daemon.url)
        self.assertEqual(result.stdout, "mallory: blocked for 10 min\n")
        code, [decision] = self.run_json("check", "mallory", "--limit", "5/s")
        self.assertEqual((code, decision["outcome"]), (DENIED, "blocked"))
        self.assertEqual(self.run_json("unblock", "mallory")[1][0]["was_blocked"], True)
        self.assertEqual(self.run_json("unblock", "mallory")[1][0]["was_blocked"], False)
        self.assertEqual(self.run_json("check", "mallory", "--limit", "5/s")[0], FINE)

    def test_keys_may_have_any_characters(self):
        for key in ("a/b", "?x#y&z=%41", "ключ", " ", ".."):
            self.assertEqual(self.run_json("check", "--limit", "1/day", "--", key)[0], FINE)
            self.assertEqual(self.run_json("peek", "--limit", "1/day", "--", key)[0], DENIED, key)
            self.assertEqual(self.run_json("reset", "--", key)[1][0]["was_used"], True, key)


class RuleTest(OperatorTest):
    def test_peek_has_every_limit_of_a_rule(self):
        self.assertEqual(self.ask("1"), 200)
        code, limits = self.run_json("peek", "user=1", "--rule", "api/search")
        self.assertEqual(code, FINE)
        self.assertEqual({one["rule"]: one["remaining"] for one in limits},
                         {"api/search/minute": 2, "api/search/day": 999})
        result = run("peek", "user=1", "--rule", "api/search", "--server", self.daemon.url)
        for words in ("api/search/minute", "2 of 3", "anchored_window", "999 of 1000"):
            self.assertIn(words, result.stdout)
        for _ in range(2):
            self.ask("1")
        self.assertEqual(self.run_json("peek", "user=1", "--rule", "api/search")[0], DENIED)

    def test_reset_of_a_rule(self):
        for expected in (200, 200, 200, 429):
            self.assertEqual(self.ask("2"), expected)
        code, [done] = self.run_json("reset", "user=2", "--rule", "api/search")
        self.assertEqual((code, done["was_used"]), (FINE, True))
        self.assertEqual(self.ask("2"), 200)

    def test_block_of_a_rule_and_of_a_domain(self):
        self.run_json("block", "user=3", "--for", "1h", "--rule", "api/search")
        self.assertEqual((self.ask("3"), self.ask("3", "/login")), (429, 200))
        self.run_json("block", "user=3", "--for", "1h", "--domain", "api")
        self.assertEqual((self.ask("3"), self.ask("3", "/login")), (429, 429))
        self.run_json("unblock", "user=3", "--domain", "api")
        self.assertEqual((self.ask("3"), self.ask("3", "/login")), (200, 200))

    def test_a_key_that_no_request_of_the_rule_can_have_is_rejected(self):
        server = ("--server", self.daemon.url)
        for command, more in (("peek", ()), ("reset", ()), ("block", ("--for", "1h")), ("unblock", ())):
            for key in ("7", "users=7", "user=7&path=/x"):
                result = run(command, key, *more, "--rule", "api/search", *server)
                self.assert_fails(result, BAD_INPUT, key, "is no key of rule", "api/search", "user=...")
            result = run(command, "user=7", *more, "--rule", "api/everyone", *server)
            self.assert_fails(result, BAD_INPUT, "api/everyone", "(all)")

    def test_a_rule_that_counts_all_requests_together(self):
        self.ask("5", "/all")
        code, [before] = self.run_json("peek", "(all)", "--rule", "api/everyone")
        self.assertEqual(code, FINE)
        self.assertLess(before["remaining"], 1000)
        self.run_json("block", "(all)", "--for", "1h", "--rule", "api/everyone")
        self.assertEqual(self.ask("5", "/all"), 429)
        self.run_json("unblock", "(all)", "--rule", "api/everyone")
        self.assertEqual(self.ask("5", "/all"), 200)

    def test_explain_shows_the_decision_of_a_check(self):
        arguments = ("explain", "--server", self.daemon.url, "--domain", "api", "path=/login",
                     "user=4")
        for expected in (FINE, FINE, DENIED):
            result = run(*arguments)
            self.assertEqual(result.returncode, expected, result)
            self.assertIn("would pass." if expected == FINE else "would be denied.", result.stdout)
            answer = json.loads(run(*arguments, "--json").stdout)
            self.assertEqual(answer["decision"]["allowed"], expected == FINE)
            self.ask("4", "/login")

    def test_explain_requires_a_domain_if_the_daemon_has_no_default(self):
        self.assert_fails(run("explain", "--server", self.daemon.url, "path=/login"), BAD_INPUT,
                          "--domain is required", '"default"')

    def test_errors_of_the_daemon_are_shown(self):
        server = ("--server", self.daemon.url)
        self.assert_fails(run("peek", "user=1", "--rule", "api/none", *server), BAD_INPUT,
                          '"api/none" is not loaded')
        self.assert_fails(run("reset", "user=1", "--rule", "search", *server), BAD_INPUT,
                          "penstock reset: ", "search")
        self.assert_fails(run("block", "x", "--for", "1m", "--domain", "api", *server), BAD_INPUT,
                          "penstock block: ")


class ArgumentTest(OperatorTest):
    def test_a_store_or_a_daemon_is_required(self):
        for command, arguments in ON_A_KEY.items():
            self.assert_fails(run(command, *arguments), BAD_INPUT, "--store", "--server")

    def test_a_store_and_a_daemon_exclude_each_other(self):
        both = ("--store", "redis://127.0.0.1", "--server", self.daemon.url)
        for command, arguments in {**ON_A_KEY, "check": ["a", "--limit", "1/s"]}.items():
            self.assert_fails(run(command, *arguments, *both), BAD_INPUT, "only one of them")
            environment = {"PENSTOCK_STORE": "redis://a", "PENSTOCK_SERVER": "http://a"}
            self.assert_fails(run(command, *arguments, **environment), BAD_INPUT,
                              "PENSTOCK_STORE", "PENSTOCK_SERVER")

    def test_arguments_override_the_environment(self):
        for command, arguments in ON_A_KEY.items():
            result = run(command, *arguments, "--server", self.daemon.url,
                         PENSTOCK_STORE="redis://nowhere.invalid")
            self.assertEqual((result.returncode, result.stderr), (FINE, ""))
            result = run(command, *arguments, PENSTOCK_SERVER=self.daemon.url)
            self.assertEqual((result.returncode, result.stderr), (FINE, ""))

    def test_rules_need_a_daemon_and_names_a_store(self):
        for command, arguments in ON_A_KEY.items():
            result = run(command, *arguments, "--rule", "a/b", "--store", "redis://127.0.0.1")
            self.assert_fails(result, BAD_INPUT, "--server", "--name a/b")
            result = run(command, *arguments, "--name", "a/b", "--server", self.daemon.url)
            self.assert_fails(result, BAD_INPUT, "--rule")

    def test_peek_needs_a_limit_or_a_rule(self):
        server = ("--server", self.daemon.url)
        self.assert_fails(run("peek", "a", *server), BAD_INPUT, "--limit", "--rule")
        result = run("peek", "a", "--rule", "a/b", "--limit", "1/s", *server)
        self.assert_fails(result, BAD_INPUT, "--limit", "--rule")

    def test_wrong_addresses_and_times(self):
        for command, arguments in ON_A_KEY.items():
            result = run(command, *arguments, "--server", "localhost:8080")
            self.assert_fails(result, BAD_INPUT, '--server "localhost:8080"', "http://")
            result = run(command, *arguments, "--server", "http://me:secret@localhost")
            self.assert_fails(result, BAD_INPUT, "--server")
            self.assertNotIn("secret", result.stderr)
            result = run(command, *arguments, "--server", self.daemon.url, "--timeout", "soon")
            self.assert_fails(result, BAD_INPUT, '--timeout "soon"')
        result = run("reset", "a", "--server", "https://localhost", "--ca", "/nowhere.pem")
        self.assert_fails(result, BAD_INPUT, '--ca "/nowhere.pem"')

    def test_an_unreachable_daemon_is_not_a_denial(self):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # bound, and does not listen
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
            for command, arguments in {**ON_A_KEY, "check": ["a", "--limit", "1/s"]}.items():
                result = run(command, *arguments, "--server", url)
                self.assert_fails(result, UNAVAILABLE, url, "refused")

    def test_a_daemon_that_does_not_answer_times_out(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            result = run("peek", "a", "--limit", "1/s", "--server", url, "--timeout", "50ms")
            self.assert_fails(result, UNAVAILABLE, url, "50 ms")

    def test_the_admin_port_serves_operators_too(self):
        result = run("reset", "a", "--server", f"http://127.0.0.1:{self.daemon.admin_port}")
        self.assertEqual((result.returncode, result.stdout), (FINE, "a: had no usage\n"))

    def test_another_http_server_is_not_accepted_as_a_daemon(self):
        result = run("top", "--admin", self.daemon.url)
        self.assert_fails(result, BAD_INPUT, "penstock top: ")


class TokenTest(OperatorTest):
    configuration = RULES + 'server: {token: "open sesame"}\n'

    def test_changes_need_the_token_if_configured(self):
        server = ("--server", self.daemon.url)
        result = run("reset", "a", *server, "--token", "shibboleth")
        self.assert_fails(result, UNAVAILABLE, "--token")
        self.assertNotIn("shibboleth", result.stderr)
        self.assertEqual(run("reset", "a", *server, "--token", "open sesame").returncode, FINE)
        self.assertEqual(run("reset", "a", *server, PENSTOCK_TOKEN="open sesame").returncode, FINE)
        result = run("reset", "a", *server, "--token", "a\r\nb")
        self.assert_fails(result, BAD_INPUT, "--token")


class TlsTest(unittest.TestCase):
    def test_the_certificate_of_the_daemon_is_verified(self):
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/cert.pem"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=penstock",
                 "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                check=True, capture_output=True,
            )
            secured = RULES + f"server: {{tls: {{certificate: {certificate}, key: {key}}}}}\n"
            with Daemon(secured) as daemon:
                url = f"https://127.0.0.1:{daemon.port}"
                result = run("reset", "a", "--server", url, "--ca", certificate)
                self.assertEqual((result.returncode, result.stderr), (FINE, ""))
                result = run("reset", "a", "--server", url)
                self.assertEqual(result.returncode, UNAVAILABLE)
                self.assertIn("certificate", result.stderr)
                other = f"https://localhost:{daemon.port}"
                result = run("reset", "a", "--server", other, "--ca", certificate)
                self.assertEqual(result.returncode, UNAVAILABLE, "the certificate is of an address")


class Ipv6Test(unittest.TestCase):
    @unittest.skipUnless(os.path.exists("/proc/net/if_inet6"), "this machine has no IPv6")
    def test_an_address_in_brackets(self):
        with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
            authority = f"[::1]:{listener.getsockname()[1]}"
            process = subprocess.Popen([PROGRAM, "reset", "a", "--server", f"http://{authority}"],
                                       stdout=subprocess.PIPE, encoding="utf-8")
            listener.settimeout(20)
            connection, _ = listener.accept()
            with connection:
                question = connection.recv(65536).decode()
                answer = '{"key":"a","was_used":true}'
                connection.sendall(
                    f"HTTP/1.1 200 OK\r\nContent-Length: {len(answer)}\r\n\r\n{answer}".encode()
                )
            self.assertEqual(process.communicate(timeout=20)[0], "a: usage reset\n")
            self.assertTrue(question.startswith("DELETE /v1/keys/a HTTP/1.1\r\n"), question)
            self.assertIn(f"\r\nHost: {authority}\r\n", question)


class TopTest(OperatorTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin = f"http://127.0.0.1:{cls.daemon.admin_port}"
        busy = {"domain": "api", "attributes": {"path": "/login", "user": "busy"}, "cost": 0}
        greedy = {"domain": "api", "attributes": {"path": "/login", "user": "greedy"}, "cost": 2}
        for question, times in ((busy, 40), (greedy, 10)):
            for _ in range(times):
                cls.daemon.ask("POST", "/v1/check", question)

    def top(self, *arguments):
        result = run("top", "--admin", self.admin, *arguments)
        self.assertEqual((result.returncode, result.stderr), (FINE, ""))
        return result.stdout

    def entries(self, *arguments):
        deadline = time.monotonic() + 10  # workers publish their counts once a second
        while True:
            report = json.loads(self.top("--json", *arguments))
            if report["entries"] or time.monotonic() > deadline:
                return report
            time.sleep(0.1)

    def test_json_in_either_order(self):
        report = self.entries()
        self.assertEqual(report["by"], "requests")
        self.assertEqual([(one["rule"], one["subject"]) for one in report["entries"]],
                         [("api/login", "user=busy"), ("api/login", "user=greedy")])
        self.assertGreaterEqual(report["entries"][0]["count"], 20)
        report = self.entries("--by", "denied")
        self.assertEqual([one["subject"] for one in report["entries"]], ["user=greedy"])
        self.assertEqual(len(self.entries("--n", "1")["entries"]), 1)

    def test_prints_a_readable_table(self):
        self.entries()
        lines = self.top().splitlines()
        self.assertEqual(lines[0].split(), ["requests", "rule", "subject"])
        self.assertEqual(lines[1].split()[1:], ["api/login", "user=busy"])

    def test_prints_once_into_a_pipe_and_with_once(self):
        self.entries()
        self.assertNotIn("\x1b", self.top())
        with Terminal("top", "--once", "--admin", self.admin) as terminal:
            self.assertEqual(terminal.wait(), FINE)
            self.assertNotIn("\x1b[?1049h", terminal.text)
            self.assertIn("user=busy", terminal.text)

    def test_wrong_arguments(self):
        for arguments in (("--by", "name"), ("--n", "0"), ("--n", "1001"), ("--admin", "here")):
            self.assert_fails(run("top", *arguments), BAD_INPUT, '{} "{}"'.format(*arguments))

    def test_an_unreachable_admin_port_names_the_option(self):
        self.assert_fails(run("top", "--admin", "http://127.0.0.1:1"), UNAVAILABLE,
                          "Connection refused", "--admin or PENSTOCK_ADMIN")


class LiveTopTest(OperatorTest):
    """The full-screen view, on a pseudoterminal."""

    def setUp(self):
        # recent requests: counts decay
        daemon = Daemon(self.configuration)
        self.addCleanup(daemon.close)
        self.admin = f"http://127.0.0.1:{daemon.admin_port}"
        for _ in range(12):
            daemon.ask("POST", "/v1/check", {"domain": "api", "attributes": {"path": "/login", "user": "busy"}})
        deadline = time.monotonic() + 10  # workers publish their counts once a second
        while "user=busy" not in run("top", "--admin", self.admin).stdout:
            self.assertLess(time.monotonic(), deadline, "/top has no entries")
            time.sleep(0.1)

    def test_is_live_on_a_terminal_until_q(self):
        with Terminal("top", "--admin", self.admin) as terminal:
            terminal.expect("penstock top", "requests  12", "denied  10", "83.3 %", "api/login", "user=busy", "█", "q quit")
            self.assertFalse(terminal.echoes())
            terminal.expect("/s     ")  # rates, from the second reading on
            terminal.type("d")
            terminal.expect("\x1b[0;1mdenied")
            terminal.type("q")
            self.assertEqual(terminal.wait(), FINE)
            self.assertTrue(terminal.is_restored())
            self.assertTrue(terminal.echoes())

    def test_signals_restore_the_terminal_and_end_it(self):
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with Terminal("top", "--admin", self.admin) as terminal:
                terminal.expect("q quit")
                terminal.process.send_signal(which)
                self.assertEqual(terminal.wait(), -which)
                self.assertTrue(terminal.is_restored(), which)
                self.assertTrue(terminal.echoes(), which)

    def test_a_suspended_view_restores_the_terminal_and_returns(self):
        with Terminal("top", "--admin", self.admin) as terminal:
            terminal.expect("q quit")
            send_signal(terminal.process, signal.SIGTSTP)  # a SIGCONT before it has stopped has no effect
            terminal.expect("\x1b[?1049l")
            terminal.process.send_signal(signal.SIGCONT)
            terminal.expect("\x1b[?1049h", "q quit")
            terminal.type("q")
            self.assertEqual(terminal.wait(), FINE)

    def test_without_colour_the_view_is_plain(self):
        with Terminal("top", "--admin", self.admin, NO_COLOR="1") as terminal:
            terminal.expect("user=busy", "q quit")
            self.assertNotIn("\x1b[0;32m", terminal.text)
            terminal.type("q")
            self.assertEqual(terminal.wait(), FINE)

    def test_an_unreachable_daemon_is_an_error_before_the_screen_is_taken(self):
        with Terminal("top", "--admin", "http://127.0.0.1:1") as terminal:
            self.assertEqual(terminal.wait(), UNAVAILABLE)
            self.assertNotIn("\x1b[?1049h", terminal.text)


if __name__ == "__main__":
    unittest.main()
