"""A real Envoy, named by PENSTOCK_ENVOY, in front of an application: the files of examples/envoy, with other ports.
`make interop` runs it; `make test` does not, because Debian has no Envoy package."""

import os
import shutil
import signal
import tempfile
import threading
import time
import unittest
from pathlib import Path

from daemon import SOURCE_DIR, Daemon, ask, eventually
from grpc_calls import grpc_port
from proxies_test import Application, ApplicationServer
from redis_server import free_port
from server_process import ServerProcess, require
from tls_test import Certificates

ENVOY = os.environ.get("PENSTOCK_ENVOY", "")
EXAMPLES = SOURCE_DIR / "examples" / "envoy"
TOKENS = 400  # the cost that the application reports per response


class TokenApplication(Application):
    def end_headers(self):
        self.send_header("x-tokens", str(TOKENS))
        super().end_headers()


def setUpModule():
    if not ENVOY:
        raise unittest.SkipTest("PENSTOCK_ENVOY names no Envoy")


class EnvoyCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.application = ApplicationServer(("127.0.0.1", 0), TokenApplication)
        threading.Thread(target=self.application.serve_forever, daemon=True).start()
        self.addCleanup(self.application.server_close)
        self.addCleanup(self.application.shutdown)
        self.port, self.admin_port = free_port(), free_port()
        self.daemon = self.serve(free_port())
        self.start_envoy()

    def serve(self, port):
        rules = (EXAMPLES / "penstock.yaml").read_text(encoding="utf-8")
        self.grpc_port = port
        files = self.files()
        rules = rules.replace("127.0.0.1:8081", f"127.0.0.1:{port}" + self.more_rules)
        daemon = Daemon(rules, files=files)
        self.addCleanup(daemon.close)
        self.assertEqual(grpc_port(daemon), port)
        return daemon

    more_rules = ""  # after `listen` of grpc

    def files(self):
        """Files for the daemon's folder."""
        return {}

    def change(self, text):
        """Changes Envoy's configuration."""
        return text

    def start_envoy(self):
        text = (EXAMPLES / "envoy.yaml").read_text(encoding="utf-8")
        ports = {10000: self.port, 8081: self.grpc_port, 3000: self.application.server_port}
        for old, new in ports.items():
            changed = text.replace(f"port_value: {old}", f"port_value: {new}")
            self.assertNotEqual(changed, text)
            text = changed
        text = self.change(text)
        text += ("\nadmin: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}\n" % self.admin_port)
        path = self.folder / "envoy.yaml"
        path.write_text(text, encoding="utf-8")
        envoy = ServerProcess([ENVOY, "-c", str(path), "--concurrency", "1", "--use-dynamic-base-id",
                               "-l", "warning"], self.port, self.folder)
        self.addCleanup(envoy.close)
        self.wait_until_reachable()

    def wait_until_reachable(self):
        """Envoy's workers learn that the daemon is healthy slightly later than its counters."""
        self.assertTrue(eventually(lambda: "x-ratelimit-limit" in self.get("/free").fields))

    def stat(self, name):
        text = ask(self.admin_port, "GET", f"/stats?filter=^{name}$").body.strip()
        return int(text.rpartition(": ")[2]) if text else 0

    def healthy(self):
        return self.stat("cluster.penstock.membership_healthy")

    def get(self, path, key=None):
        return ask(self.port, "GET", path, headers={"X-Api-Key": key} if key else {})


class EnvoyTimestampTest(EnvoyCase):
    """Envoy writes no X-RateLimit-* itself, and adds those of the daemon."""

    more_rules = "\n  headers: x-ratelimit-unix"

    def change(self, text):
        return text.replace("enable_x_ratelimit_headers: DRAFT_VERSION_03", "")

    def test_adds_the_time_of_the_reset(self):
        for _ in range(4):
            status, fields, _ = self.get("/v1/search/x", "frank")
            self.assertTrue(0 < int(fields["x-ratelimit-reset"]) - time.time() <= 3601, fields)
        self.assertEqual(status, 429)


class EnvoyTest(EnvoyCase):
    def test_admits_up_to_the_limit_and_denies_the_rest_with_429(self):
        for left in (2, 1, 0):
            status, fields, body = self.get("/v1/search/x", "alice")
            self.assertEqual((status, body), (200, "hello\n"))
            self.assertEqual(fields["x-ratelimit-remaining"], str(left))
        before = len(Application.seen)
        status, fields, body = self.get("/v1/search/x", "alice")
        self.assertEqual((status, fields["content-type"]), (429, "application/problem+json"))
        self.assertEqual(body["violated-policies"], ["search"])
        self.assertEqual(len(Application.seen), before, "denied requests are not forwarded")
        self.assertEqual(fields["x-envoy-ratelimited"], "true")
        self.assertTrue(1 <= int(fields["retry-after"]) <= 1200, fields)
        self.assertEqual(self.get("/v1/search/x", "bob").status, 200)

    def test_shows_the_limit_to_clients(self):
        fields = self.get("/v1/search/x", "carol").fields
        policies = fields["x-ratelimit-limit"].split(", ")
        self.assertEqual(policies[0], "3")  # of the strictest limit
        self.assertIn('3;w=3600;name="search"', policies)
        self.assertTrue(1 <= int(fields["x-ratelimit-reset"]) <= 3600)
        self.assertIn('"search"', fields["ratelimit-policy"])
        self.assertIn("r=2", fields["ratelimit"])

    def test_a_query_does_not_change_the_path(self):
        for query in range(3):
            self.assertEqual(self.get(f"/v1/search/q?x={query}", "dora").status, 200)
        self.assertEqual(self.get("/v1//search/../search/q?x=9", "dora").status, 429)

    def test_clients_cannot_spoof_their_identity(self):
        for _ in range(5):
            self.assertEqual(self.get("/login").status, 200)
        forged = {"X-Forwarded-For": "198.51.100.9", "X-Envoy-External-Address": "198.51.100.9"}
        self.assertEqual(ask(self.port, "GET", "/login", headers=forged).status, 429)

    def test_charges_the_actual_cost_of_a_request(self):
        """1000 per hour, 400 each: the third passes with 200 left, and the fourth is denied."""
        def left():
            return self.daemon.ask("GET", "/v1/keys/api_key%3Derin?rule=edge/tokens").body["remaining"]

        for expected in (600, 200, 0):
            self.assertEqual(self.get("/v1/complete", "erin").status, 200)
            # It is charged after the response; a little refills every few seconds.
            self.assertTrue(eventually(lambda: expected <= left() <= expected + 10), left())  # noqa: B023
        self.assertEqual(self.get("/v1/complete", "erin").status, 429)

    def test_each_filter_applies_its_failure_mode_while_the_daemon_is_down(self):
        self.daemon.signal(signal.SIGKILL)
        self.daemon.wait()
        for _ in range(2):  # before and after the health check detects it
            start = time.monotonic()
            self.assertEqual(self.get("/free").status, 200)
            self.assertEqual(self.get("/login").status, 503)
            self.assertLess(time.monotonic() - start, 10)
            self.assertTrue(eventually(lambda: self.healthy() == 0))
        self.assertGreaterEqual(self.stat("cluster.application.ratelimit.failure_mode_allowed"), 2)

    def test_a_hanging_daemon_delays_by_the_timeout(self):
        self.daemon.signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            self.assertEqual(self.get("/free").status, 200)
            took = time.monotonic() - start
        finally:
            self.daemon.signal(signal.SIGCONT)
        self.assertLess(took, 5)  # 20 ms on an idle machine

    def test_recovers_when_the_daemon_is_back(self):
        self.daemon.close()
        self.assertTrue(eventually(lambda: self.healthy() == 0))
        self.daemon = self.serve(self.grpc_port)
        self.wait_until_reachable()
        self.assertEqual([self.get("/login").status for _ in range(6)], [200] * 5 + [429])

    def test_no_request_is_lost_when_the_daemon_stops(self):
        """Requests continue while it stops: all are answered, by it or by the failure mode."""
        statuses, stop = [], threading.Event()

        def ask_on():
            while not stop.is_set():
                statuses.append(self.get("/free").status)

        threads = [threading.Thread(target=ask_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        self.daemon.signal(signal.SIGTERM)
        self.assertEqual(self.daemon.wait(), 0)
        time.sleep(0.3)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(statuses), {200, 429})
        self.assertGreater(statuses.count(200), 10)


class EnvoyTlsTest(EnvoyCase):
    """With tls.yaml in the cluster: both sides present a certificate."""

    more_rules = "\n  tls: {certificate: server.pem, key: server.key, client_ca: envoys.pem}"

    def files(self):
        require("openssl")
        certificates = Certificates()
        self.addCleanup(certificates.close)
        server, envoy = certificates.make("server", "penstock.internal"), certificates.make("envoy")
        for name, path in (("envoy.pem", envoy[0]), ("envoy.key", envoy[1]), ("server-ca.pem", server[0])):
            shutil.copy(path, self.folder / name)
        return {"server.pem": server[0].read_text(), "server.key": server[1].read_text(),
                "envoys.pem": envoy[0].read_text()}

    def change(self, text):
        lines = (EXAMPLES / "tls.yaml").read_text(encoding="utf-8").splitlines()
        socket = "".join(f"      {line}\n" for line in lines)
        socket = socket.replace("filename: ", f"filename: {self.folder}/")
        return text.replace("    - name: application\n", socket + "    - name: application\n")

    def test_connects_over_tls(self):
        statuses = [self.get("/v1/search/x", "alice").status for _ in range(4)]
        self.assertEqual(statuses, [200] * 3 + [429])
        self.assertGreaterEqual(self.stat("cluster.penstock.ssl.handshake"), 1)


if __name__ == "__main__":
    unittest.main()
