"""The daemon: decisions, reloads, shutdown, a Redis outage, and several daemons with one limit."""

import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

from daemon import PROGRAM, SOURCE_DIR, Daemon, ask, eventually
from redis_server import RedisServer, free_port

SMALL = """
domains:
  api:
    rules:
      - name: per-key
        key: [api_key]
        limit: {limit}
        algorithm: anchored_window
"""
ANOTHER = "      - {name: another, limit: 1000/s}\n"
MORE = "domains: {more: {rules: [{name: all, limit: 1000/s}]}}\n"


def check(daemon, key="alice", domain="api", port=None):
    body = {"domain": domain, "attributes": {"api_key": key}}
    return ask(port or daemon.port, "POST", "/v1/check", body)


def small(limit="3/hour"):
    return SMALL.replace("{limit}", limit)


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


class Hammer:
    """Sends requests from several threads until stopped, and records every answer."""

    def __init__(self, question, threads=4):
        self._stop = threading.Event()
        self._question = question
        self.answers = []
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self, number):
        while not self._stop.is_set():
            try:
                self.answers.append(self._question(number))
            except OSError as error:
                self.answers.append(error)

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        return self.answers


class StartTest(unittest.TestCase):
    def test_each_listener_is_logged_once_in_the_format_of_the_log(self):
        server = RedisServer()
        self.addCleanup(server.close)
        listeners = (f"server: {{workers: 3}}\nstore: {{url: '{server.url}'}}\nlog: {{format: json}}\n"
                     "grpc: {listen: '127.0.0.1:0'}\nresp: {listen: '127.0.0.1:0'}\n")
        with Daemon(listeners + small()) as daemon:
            daemon.wait_for_output("connected")
            time.sleep(0.5)  # time for the other workers
            lines = [json.loads(line) for line in daemon.output.splitlines()]
        said = [line.get("listener") for line in lines if line["message"].startswith("listening on")]
        self.assertEqual(said, ["http", "grpc", "resp"])
        self.assertEqual(len([line for line in lines if line["message"].startswith("admin on")]), 1)
        self.assertEqual(len([line for line in lines if "connected" in line.get("event", "")]), 1)

    def test_the_admin_port_can_be_off(self):
        port = free_port()
        process = subprocess.Popen(
            [PROGRAM, "serve", "--config", str(SOURCE_DIR / "examples" / "quickstart.yaml"),
             "--listen", f"127.0.0.1:{port}", "--admin", "off", "--shutdown-delay", "0s"],
            stderr=subprocess.PIPE, encoding="utf-8")
        try:
            self.assertTrue(eventually(lambda: is_open(port)))
        finally:
            process.terminate()
        self.assertNotIn("admin on", process.communicate(timeout=20)[1])
        self.assertEqual(process.returncode, 0)

    def test_a_tab_in_the_indentation_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "penstock.yaml:2:1: error: a tab in the indentation"):
            Daemon("server:\n\tworkers: 1\n")


class ErrorTest(unittest.TestCase):
    """Errors name what to change."""

    def test_a_request_that_is_too_large(self):
        limits = "server: {max_header_bytes: 1000, max_body_bytes: 500}\n"
        with Daemon(limits + small()) as daemon:
            status, _, problem = daemon.ask("POST", "/v1/check", {"domain": "x" * 500})
            self.assertEqual((status, problem["detail"]),
                             (413, "the body is larger than 500 bytes (server.max_body_bytes)"))
            status, _, problem = daemon.ask("GET", "/", headers={"a": "x" * 1000})
            self.assertEqual((status, problem["detail"]),
                             (431, "the header is larger than 1000 bytes (server.max_header_bytes)"))

    def test_a_misspelt_member(self):
        with Daemon(small()) as daemon:
            status, _, problem = daemon.ask("POST", "/v1/check", {"domain": "api", "atributes": {}})
            self.assertEqual((status, problem["detail"]),
                             (400, "atributes: unknown member; did you mean 'attributes'?"))


class DecisionTest(unittest.TestCase):
    def test_admits_the_limit_and_sends_retry_after(self):
        with Daemon(small()) as daemon:
            for left in (2, 1, 0):
                status, _, answer = check(daemon)
                self.assertEqual((status, answer["allowed"]), (200, True))
                self.assertEqual(answer["remaining"], left)
            status, fields, answer = check(daemon)
            self.assertEqual(status, 429)
            self.assertTrue(1 <= int(fields["retry-after"]) <= 3600, fields)
            self.assertEqual(fields["content-type"], "application/problem+json")
            self.assertEqual(check(daemon, "bob")[0], 200)

    def test_all_workers_share_the_embedded_store(self):
        with Daemon("server: {workers: 2}\n" + small("100/hour")) as daemon:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda _: check(daemon)[0], range(200)))
            self.assertEqual(answers.count(200), 100)
            self.assertEqual(answers.count(429), 100)


class ReloadTest(unittest.TestCase):
    def limit_is(self, daemon, limit):
        return eventually(lambda: check(daemon, os.urandom(8).hex())[2].get("limit") == limit)

    def test_a_changed_or_replaced_file_and_a_signal_reload_the_rules(self):
        with Daemon(small("3/hour")) as daemon:
            daemon.configuration.write_text(small("4/hour"), encoding="utf-8")
            self.assertTrue(self.limit_is(daemon, 4), daemon.output)
            fresh = daemon.folder / "fresh.yaml"
            fresh.write_text(small("5/hour"), encoding="utf-8")
            fresh.rename(daemon.configuration)
            self.assertTrue(self.limit_is(daemon, 5), daemon.output)
            before = daemon.metric('penstock_config_reloads_total{result="ok"}')
            daemon.signal(signal.SIGHUP)
            self.assertTrue(eventually(
                lambda: daemon.metric('penstock_config_reloads_total{result="ok"}') == before + 1))
            self.assertTrue(self.limit_is(daemon, 5), daemon.output)

    def test_a_continuously_rewritten_file_is_reloaded(self):
        with Daemon(small("3/hour")) as daemon:
            quiet = threading.Event()

            def rewrite():
                while not quiet.wait(0.1):  # every poll finds another file
                    fresh = daemon.folder / "fresh.yaml"
                    fresh.write_text(small("4/hour"), encoding="utf-8")
                    fresh.rename(daemon.configuration)

            writer = threading.Thread(target=rewrite)
            writer.start()
            try:
                self.assertTrue(self.limit_is(daemon, 4), daemon.output)
            finally:
                quiet.set()
                writer.join()

    def test_a_reload_keeps_usage(self):
        with Daemon(small("3/hour")) as daemon:
            self.assertEqual([check(daemon)[0] for _ in range(3)], [200] * 3)
            daemon.configuration.write_text(small("3/hour") + ANOTHER, encoding="utf-8")
            self.assertTrue(eventually(lambda: len(daemon.admin("/rules").body["rules"]) == 2))
            self.assertEqual(check(daemon)[0], 429)

    def test_the_number_of_rules_follows_a_reload(self):
        with Daemon(small("3/hour")) as daemon:
            daemon.configuration.write_text(small("3/hour") + ANOTHER, encoding="utf-8")
            self.assertTrue(eventually(lambda: len(daemon.admin("/rules").body["rules"]) == 2))
            self.assertTrue(eventually(lambda: daemon.metric("penstock_config_rules") == 2))

    def test_daemons_with_equal_configuration_have_the_same_hash(self):
        def configuration_hash(daemon):
            return daemon.metric("penstock_config_hash")

        with Daemon(small("3/hour")) as one, Daemon(small("3/hour")) as two:
            agreed = configuration_hash(one)
            self.assertNotEqual(agreed, 0)
            self.assertEqual(configuration_hash(two), agreed)
            two.configuration.write_text(small("4/hour"), encoding="utf-8")
            self.assertTrue(eventually(lambda: configuration_hash(two) != agreed))
            two.configuration.write_text(small("3/hour"), encoding="utf-8")
            self.assertTrue(eventually(lambda: configuration_hash(two) == agreed))

    def test_a_deleted_file_keeps_the_old_rules(self):
        with Daemon(small("3/hour")) as daemon:
            daemon.configuration.unlink()
            daemon.wait_for_output("cannot be read")
            self.assertTrue(self.limit_is(daemon, 3))

    def more_is_served(self, daemon):
        def served():
            return check(daemon, domain="more")[2]["reason"] == "within_limits"
        return eventually(served)

    def test_a_signal_loads_new_files_of_a_directory(self):
        with Daemon(small("3/hour"), whole_folder=True) as daemon:
            self.assertEqual(check(daemon, domain="more")[2]["reason"], "no_rule")
            (daemon.folder / "more.yaml").write_text(MORE, encoding="utf-8")
            daemon.signal(signal.SIGHUP)
            self.assertTrue(self.more_is_served(daemon))
            daemon.configuration.write_text(small("4/hour"), encoding="utf-8")
            self.assertTrue(self.limit_is(daemon, 4))
            (daemon.folder / "more.yaml").unlink()
            self.assertTrue(
                eventually(lambda: check(daemon, domain="more")[2]["reason"] == "no_rule"))

    def test_a_new_file_in_a_directory_is_loaded(self):
        with Daemon(small("3/hour"), whole_folder=True) as daemon:
            (daemon.folder / "more.yaml").write_text(MORE, encoding="utf-8")
            served = self.more_is_served(daemon)
        self.assertTrue(served)

    def test_settings_that_need_a_restart_are_named(self):
        with Daemon(small("3/hour")) as daemon:
            text = small("4/hour") + "server: {headers: 'off', workers: 3, token: open sesame}\n"
            daemon.configuration.write_text(text, encoding="utf-8")
            daemon.wait_for_output("take effect after a restart")
            self.assertIn('settings="server.workers"', daemon.output)
            self.assertNotIn("open sesame", daemon.output)
            self.assertTrue(self.limit_is(daemon, 4), "rules take effect at once")

    def test_every_setting_that_needs_a_restart_is_named(self):
        with Daemon(small("3/hour")) as daemon:
            text = small("4/hour") + "server: {workers: 3}\nstore: {max_keys: 10}\n"
            daemon.configuration.write_text(text, encoding="utf-8")
            self.assertTrue(self.limit_is(daemon, 4))
        self.assertIn('settings="server.workers, store.max_keys"', daemon.output)

    def test_a_symbolic_link_swapped_like_kubernetes_does_is_reloaded(self):
        with Daemon(small("3/hour")) as daemon:
            folder = daemon.folder
            for version, limit in (("v1", "3/hour"), ("v2", "7/hour")):
                (folder / version).mkdir()
                (folder / version / "penstock.yaml").write_text(small(limit), encoding="utf-8")
            (folder / "data").symlink_to("v1")
            daemon.configuration.unlink()
            daemon.configuration.symlink_to("data/penstock.yaml")
            self.assertTrue(self.limit_is(daemon, 3), daemon.output)
            (folder / "data.new").symlink_to("v2")
            (folder / "data.new").rename(folder / "data")
            self.assertTrue(self.limit_is(daemon, 7), daemon.output)

    def test_a_bad_file_keeps_the_old_rules_and_is_logged(self):
        with Daemon(small("3/hour")) as daemon:
            daemon.configuration.write_text("domains: {api: {rulez: []}}\n", encoding="utf-8")
            daemon.wait_for_output("rulez")
            self.assertTrue(self.limit_is(daemon, 3))
            self.assertEqual(daemon.metric("penstock_config_last_reload_successful"), 0)
            status, _, ready = daemon.admin("/readyz")
            self.assertEqual(status, 200)
            self.assertIn("rulez", str(ready))
            daemon.configuration.write_text(small("6/hour"), encoding="utf-8")
            self.assertTrue(self.limit_is(daemon, 6))
            self.assertTrue(
                eventually(lambda: daemon.metric("penstock_config_last_reload_successful") == 1)
            )

    def test_reloads_under_load_lose_nothing(self):
        with Daemon(small("1000000/hour")) as daemon:
            hammer = Hammer(lambda _: check(daemon)[0])
            for turn in range(10):
                daemon.configuration.write_text(
                    small(f"{1000001 + turn}/hour"), encoding="utf-8"
                )
                daemon.signal(signal.SIGHUP)
                time.sleep(0.1)
            answers = hammer.stop()
            self.assertGreater(len(answers), 100)
            self.assertEqual(set(answers), {200})


class EndTest(unittest.TestCase):
    def test_sigterm_stops_the_daemon_after_answering_requests_in_flight(self):
        with Daemon(small("1000000/hour")) as daemon:
            hammer = Hammer(lambda _: check(daemon)[0])
            time.sleep(0.3)
            daemon.signal(signal.SIGTERM)
            self.assertEqual(daemon.wait(), 0, daemon.output)
            answers = hammer.stop()
            self.assertEqual({a for a in answers if not isinstance(a, OSError)}, {200})

    def test_sigterm_right_after_start_stops_the_daemon(self):
        quickstart = SOURCE_DIR / "examples" / "quickstart.yaml"
        codes = set()
        for _ in range(15):
            with subprocess.Popen(
                [PROGRAM, "serve", "--config", str(quickstart), "--listen", "127.0.0.1:0",
                 "--admin", "127.0.0.1:0", "--shutdown-delay", "0s"],
                stderr=subprocess.PIPE,
            ) as process:
                while b"admin on" not in process.stderr.readline():
                    pass
                process.send_signal(signal.SIGTERM)
                codes.add(process.wait(20))
        self.assertEqual(codes, {0})

    def test_a_port_in_use_is_an_error_that_names_it(self):
        with Daemon(small()) as daemon:
            result = subprocess.run(
                [PROGRAM, "serve", "--config", str(daemon.configuration),
                 "--listen", f"127.0.0.1:{daemon.port}", "--admin", "127.0.0.1:0"],
                capture_output=True, encoding="utf-8", timeout=20, check=False,
            )
            self.assertEqual(result.returncode, 3, result)
            self.assertIn(f"127.0.0.1:{daemon.port}", result.stderr)

    def test_a_bad_configuration_is_an_error_with_file_and_line(self):
        result = subprocess.run(
            [PROGRAM, "serve", "--config", "/does/not/exist.yaml"],
            capture_output=True, encoding="utf-8", timeout=20, check=False,
        )
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("/does/not/exist.yaml", result.stderr)


POLICY = """
  {policy}:
    on_failure: {policy}
    rules: [{name: per-key, key: [api_key], limit: 10/hour, algorithm: anchored_window}]
"""


def policies(url):
    """A domain for each of the three policies, with its name."""
    domains = "".join(POLICY.replace("{policy}", name) for name in ("open", "closed", "local"))
    return f"store: {{url: '{url}', timeout: 50ms}}\nnodes: 2\ndomains:{domains}"


class RedisDownTest(unittest.TestCase):
    def test_each_failure_policy_applies_while_redis_is_down_and_ends_after(self):
        server = RedisServer()
        self.addCleanup(server.close)
        with Daemon(policies(server.url)) as daemon:
            self.assertTrue(eventually(lambda: check(daemon, "warm", "closed")[0] == 200))
            hammer = Hammer(lambda i: check(daemon, f"h{i}", ("open", "closed", "local")[i % 3])[0])
            time.sleep(0.2)
            server.stop()
            time.sleep(0.5)
            outcomes = {}
            for domain in ("open", "closed", "local"):
                outcomes[domain] = [check(daemon, "bob", domain) for _ in range(20)]
            hammered = hammer.stop()

            def passed(domain):
                return sum(answer[2]["allowed"] for answer in outcomes[domain] if answer[0] == 200)

            self.assertEqual(passed("open"), 20)
            self.assertEqual(passed("closed"), 0)
            # Two nodes share ten: five for this one.
            self.assertEqual(passed("local"), 5)
            self.assertFalse([a for a in hammered if isinstance(a, OSError)])
            self.assertGreaterEqual(
                daemon.metric('penstock_decisions_total{outcome="failed_open"}'), 20
            )
            self.assertGreaterEqual(
                daemon.metric('penstock_decisions_total{outcome="failed_closed"}'), 20
            )
            status, _, ready = daemon.admin("/readyz")
            self.assertEqual(status, 200, ready)

    def test_a_limit_in_the_request_has_its_own_failure_policy(self):
        server = RedisServer()
        self.addCleanup(server.close)
        with Daemon(policies(server.url)) as daemon:
            def take(on_failure):
                body = {"key": "carl", "limit": "10/hour anchored_window", "on_failure": on_failure}
                return daemon.ask("POST", "/v1/take", body).status

            series = 'penstock_decisions_total{domain="take",rule="take",outcome="%s"}'
            self.assertTrue(eventually(lambda: take("closed") == 200))
            before = daemon.metric(series % "allowed")
            self.assertGreaterEqual(before, 1)
            server.stop()
            self.assertTrue(eventually(lambda: take("closed") == 503))
            self.assertEqual([take("open") for _ in range(20)], [200] * 20)
            # Two nodes share ten: five for this one.
            self.assertEqual([take("local") for _ in range(7)], [200] * 5 + [429] * 2)
            self.assertEqual(daemon.metric(series % "failed_open"), 20)
            self.assertEqual(daemon.metric(series % "local"), 7)

    def test_starts_without_redis_and_connects_when_it_starts(self):
        server = RedisServer()
        self.addCleanup(server.close)
        port = server.port
        server.stop()
        with Daemon(policies(f"redis://127.0.0.1:{port}")) as daemon:
            self.assertEqual([reason["kind"] for reason in daemon.admin("/readyz").body["reasons"]], ["store"])
            self.assertNotEqual(check(daemon, "a", "closed")[0], 200)
            back = subprocess.Popen(
                ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=daemon.folder,
            )
            try:
                self.assertTrue(eventually(lambda: check(daemon, "a", "closed")[0] == 200))
            finally:
                back.kill()
                back.wait()


class UnknownNodesTest(unittest.TestCase):
    WARNING = "number of nodes unknown"

    def test_an_unknown_number_of_nodes_is_logged(self):
        server = RedisServer()
        self.addCleanup(server.close)
        rule = "{name: r, limit: 5/m, on_failure: %s}"
        text = "store: {url: '%s'}\n%s\ndomains: {api: {rules: [" + rule + "]}}\n"
        unreachable = f"redis://127.0.0.1:{free_port()}"
        with Daemon(text % (unreachable, "nodes: 3", "local")) as configured, \
                Daemon(text % (unreachable, "", "open")) as indifferent, \
                Daemon(text % (server.url, "", "local")) as connected, \
                Daemon(text % (unreachable, "", "local")) as alone:
            alone.wait_for_output(self.WARNING)
            time.sleep(0.5)  # the others started earlier
            for daemon in (configured, indifferent, connected):
                self.assertNotIn(self.WARNING, daemon.output)


class SeveralDaemonsTest(unittest.TestCase):
    def test_three_daemons_on_one_redis_enforce_one_limit_exactly(self):
        server = RedisServer()
        self.addCleanup(server.close)
        text = f"store: {{url: '{server.url}', timeout: 1s}}\n" + small("500/hour")
        with Daemon(text) as one, Daemon(text) as two, Daemon(text) as three:
            daemons = (one, two, three)
            for daemon in daemons:
                self.assertTrue(eventually(lambda d=daemon: check(d, "warm")[0] == 200))
                self.assertTrue(eventually(lambda d=daemon: d.metric("penstock_nodes") == 3))
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                answers = list(pool.map(lambda i: check(daemons[i % 3])[0], range(1500)))
            self.assertEqual(answers.count(200), 500)
            self.assertEqual(answers.count(429), 1000)


if __name__ == "__main__":
    unittest.main()
