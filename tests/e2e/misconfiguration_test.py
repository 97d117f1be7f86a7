"""Mistakes in a configuration that would limit nothing: validate and serve name them, and at run time unknown domains
and missing attributes are denied, counted and logged as configured."""

import json
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from daemon import PROGRAM, Daemon, ask, eventually
from grpc_calls import OK, OVER_LIMIT, Client, Messages, grpc, grpc_port
from resp_client import RespClient

RULES = "domains: {default: {rules: [{name: r, limit: 1/s, key: [client_ip]}]}}\n"
GATEWAY = ("gateway: {listen: 127.0.0.1:0, domain: DOMAIN, upstreams: {a: {servers: [http://127.0.0.1:1]}}, "
           "routes: [{upstream: a}]}\n")

# Mistakes and the warning that validate must print.
WARNINGS = {
    "key": ("domains: {default: {rules: [{name: r, limit: 1/s, key: [clientip]}]}}",
            ":1:57: warning: attribute 'clientip' is provided by no listener; did you mean 'client_ip'?"),
    "when": ("domains: {default: {rules: [{name: r, limit: 1/s, when: {pth: /x}}]}}", "did you mean 'path'?"),
    "gateway.domain": (GATEWAY.replace("DOMAIN", "typo") + RULES, "gateway.domain: no domain 'typo'"),
    "forward_auth.domain": ("server: {forward_auth: {domain: nope}}\n" + RULES,
                            "forward_auth.domain: no domain 'nope'"),
    "trusted_proxies": ("server: {trusted_proxies: [0.0.0.0/0]}\n" + RULES, "trusts clients too"),
    "ipv6_prefix": ("domains: {default: {ipv6_prefix: 128, rules: [{name: r, limit: 1/s, key: [client_ip]}]}}",
                    "one subscriber has a /64"),
    "empty": ("", "an empty file"),
    "api_key": ("domains: {default: {rules: [{name: r, limit: 1/s, key: [api_key]}]}}",
                "nothing limits requests without api_key"),
}
# Configurations with which serve cannot start.
ERRORS = {
    "password": ("resp: {listen: 0.0.0.0:0}\n" + RULES, ":1:16: error: resp.listen 0.0.0.0:0: other machines"),
    "certificate": ("server: {tls: {certificate: none.pem, key: none.key}}\n" + RULES, ":1:15: error: server.tls: certificate "),
    "grpc certificate": ("grpc: {listen: 127.0.0.1:0, tls: {certificate: none.pem, key: none.key}}\n" + RULES,
                         "error: grpc.tls: certificate "),
    "gateway certificate": (GATEWAY.replace("domain: DOMAIN", "tls: {certificate: none.pem, key: none.key}") + RULES,
                            "error: gateway.tls: certificate "),
    "authority": ("store: {url: 'rediss://127.0.0.1:1', ca_file: none.pem}\n" + RULES, "error: store: "),
    "broken authority": ("store: {url: 'rediss://127.0.0.1:1', ca_file: penstock.yaml}\n" + RULES, "error: store: "),
    "access log": (GATEWAY.replace("domain: DOMAIN", "access_log: {format: json, path: none/log}") + RULES,
                   "error: gateway.access_log: "),
    "token_file": ("server: {token_file: none}\n" + RULES, ":1:22: error: token_file: "),
    "map": ("maps: {m: {file: none.csv}}\n" + RULES, "error: file: "),
}


class MisconfigurationTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "penstock.yaml"

    def run_on(self, text, *command):
        self.path.write_text(text, encoding="utf-8")
        return subprocess.run([PROGRAM, *command, str(self.path)], capture_output=True, encoding="utf-8", timeout=30,
                              check=False)

    def test_validate_warns_and_strict_rejects(self):
        for name, (text, said) in WARNINGS.items():
            with self.subTest(name):
                result = self.run_on(text, "validate")
                self.assertEqual(result.returncode, 0, result)
                self.assertIn(said, result.stderr)
                self.assertRegex(result.stdout, r"^ok: .*, \d+ warnings?\n$")
                strict = self.run_on(text, "validate", "--strict")
                self.assertEqual((strict.returncode, strict.stdout), (2, ""), strict)
                self.assertRegex(strict.stderr, r"warnings?, which --strict rejects")
                found = json.loads(self.run_on(text, "validate", "--strict", "--json").stdout)
                self.assertFalse(found["valid"])
                self.assertEqual({each["severity"] for each in found["diagnostics"]}, {"warning"})
                self.assertTrue(json.loads(self.run_on(text, "validate", "--json").stdout)["valid"])

    def test_the_last_line_counts_errors_and_warnings(self):
        text = "server: {token_file: none, trusted_proxies: [0.0.0.0/0]}\n" + RULES
        self.assertEqual(self.run_on(text, "validate").stderr.splitlines()[-1], "1 error, 1 warning")
        self.assertEqual(self.run_on(ERRORS["token_file"][0], "validate").stderr.splitlines()[-1], "1 error")

    def test_strict_accepts_valid_configurations(self):
        self.assertEqual(self.run_on(RULES, "validate", "--strict").returncode, 0)

    def test_validate_rejects_configurations_that_serve_rejects(self):
        for name, (text, said) in ERRORS.items():
            with self.subTest(name):
                result = self.run_on(text, "validate")
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertIn(said, result.stderr)
                served = self.run_on(text, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--config")
                self.assertEqual(served.returncode, 2, served)
                self.assertIn(said, served.stderr)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["penstock.yaml"])  # nothing is left behind

    def test_serve_logs_the_same_warnings(self):
        text, said = WARNINGS["key"]
        with Daemon(text) as daemon:
            daemon.wait_for_output("serving")
            self.assertIn(said.partition("warning: ")[2], daemon.output)


def check(daemon, domain="api", **attributes):
    return daemon.ask("POST", "/v1/check", {"domain": domain, "attributes": attributes})


class UnknownDomainTest(unittest.TestCase):
    def test_an_unknown_domain_is_allowed_counted_and_logged_at_a_limited_rate(self):
        with Daemon(RULES) as daemon:
            for _ in range(200):
                answer = check(daemon, "apj")
                self.assertEqual((answer.status, answer.body["reason"]), (200, "no_rule"))
                self.assertIn("apj", answer.body["warning"])
            self.assertEqual(daemon.metric('penstock_unknown_domain_requests_total{decision="allowed"}'), 200)
            daemon.wait_for_output("a request named a domain without rules")
            self.assertIn("apj", daemon.output)
            self.assertLess(daemon.output.count("a domain without rules"), 100)
            self.assertEqual(check(daemon, "default").status, 200)
            self.assertEqual(daemon.metric("penstock_unknown_domain_requests_total"), 200)

    @unittest.skipIf(grpc is None, "python3-grpcio is not installed")
    def test_an_unknown_domain_can_be_denied_over_grpc(self):
        with Daemon("unknown_domain: deny\ngrpc: {listen: 127.0.0.1:0}\n" + RULES) as daemon:
            client = Client(Messages(), grpc_port(daemon))
            self.addCleanup(client.close)
            answer = client.ask("apj", {"path": "/"}, {"path": "/x"})
            self.assertEqual(answer.overall_code, OVER_LIMIT)
            self.assertEqual([status.code for status in answer.statuses], [OVER_LIMIT, OVER_LIMIT])

    def test_a_reload_denies_or_allows_unknown_domains(self):
        with Daemon("unknown_domain: deny\nresp: {listen: 127.0.0.1:0}\n" + RULES) as daemon:
            answer = check(daemon, "apj")
            self.assertEqual((answer.status, answer.body["reason"]), (403, "unknown_domain"))
            with RespClient(daemon.resp_port) as client:
                self.assertIn("unknown_domain", client.ask("PENSTOCK.CHECK", "apj", "path", "/"))
            self.assertEqual(daemon.metric('penstock_unknown_domain_requests_total{decision="denied"}'), 2)
            daemon.configuration.write_text(RULES, encoding="utf-8")
            self.assertTrue(eventually(lambda: check(daemon, "apj").status == 200))


MISSING = """
server: {forward_auth: {domain: web}}
grpc: {listen: "127.0.0.1:0"}
resp: {listen: "127.0.0.1:0"}
gateway: {listen: "127.0.0.1:GATEWAY", domain: web, upstreams: {a: {servers: ["http://127.0.0.1:UPSTREAM"]}},
          routes: [{upstream: a}]}
domains:
  web:
    rules:
      - {name: keyed, when: {path: /keyed}, key: [header.x-api-key], limit: 100/h, if_missing: deny}
      - {name: one, when: {path: /one}, key: [header.x-api-key], limit: 2/h, if_missing: count_as_one}
      - {name: skipped, when: {path: /skipped}, key: [header.x-api-key], limit: 2/h, if_missing: skip}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Upstream(threading.Thread):
    """Answers 200 to everything, one request per connection."""

    def __init__(self):
        super().__init__(daemon=True)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def close(self):
        self._socket.close()


class IfMissingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        upstream = Upstream()
        cls.addClassCleanup(upstream.close)
        cls.gateway = free_port()
        text = MISSING.replace("GATEWAY", str(cls.gateway)).replace("UPSTREAM", str(upstream.port))
        cls.daemon = Daemon(text)
        cls.addClassCleanup(cls.daemon.close)

    def test_over_http(self):
        answer = check(self.daemon, "web", path="/keyed")
        self.assertEqual((answer.status, answer.body["reason"]), (403, "missing_attribute"))
        self.assertEqual(check(self.daemon, "web", path="/keyed", **{"header.x-api-key": "h"}).status, 200)
        for _ in range(5):
            answer = check(self.daemon, "web", path="/skipped")
            self.assertEqual((answer.status, answer.body["reason"]), (200, "no_rule"))

    def test_over_the_redis_protocol(self):
        with RespClient(self.daemon.resp_port) as client:
            answer = client.ask("PENSTOCK.CHECK", "web", "path", "/keyed")
            self.assertEqual((answer[0], answer[5], answer[6]), (1, "web/keyed", "missing_attribute"))
            self.assertEqual(client.ask("PENSTOCK.CHECK", "web", "path", "/keyed", "header.x-api-key", "r")[0], 0)

    @unittest.skipIf(grpc is None, "python3-grpcio is not installed")
    def test_over_grpc(self):
        messages = Messages()
        client = Client(messages, grpc_port(self.daemon))
        self.addCleanup(client.close)
        for descriptor, code in (({"path": "/keyed"}, OVER_LIMIT),
                                 ({"path": "/keyed", "header.x-api-key": "g"}, OK)):
            self.assertEqual(client.ask("web", descriptor).overall_code, code)

    def test_through_the_gateway_and_forward_auth(self):
        self.assertEqual(ask(self.gateway, "GET", "/keyed").status, 403)
        self.assertEqual(ask(self.gateway, "GET", "/keyed", headers={"X-Api-Key": "w"}).status, 200)
        asked = {"X-Forwarded-Uri": "/keyed", "X-Forwarded-Method": "GET"}
        self.assertEqual(self.daemon.ask("GET", "/v1/forward-auth", headers=asked).status, 403)
        # all requests without a key share two per hour, across all listeners
        statuses = [ask(self.gateway, "GET", "/one").status for _ in range(2)]
        statuses.append(check(self.daemon, "web", path="/one").status)
        self.assertEqual(statuses, [200, 200, 429])
        self.assertEqual(ask(self.gateway, "GET", "/one", headers={"X-Api-Key": "w"}).status, 200)

    def test_explain_names_the_missing_attribute(self):
        asked = (PROGRAM, "explain", "--config", str(self.daemon.configuration), "--domain", "web")
        result = subprocess.run([*asked, "path=/keyed"], capture_output=True, encoding="utf-8", timeout=30, check=False)
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("header.x-api-key is absent (if_missing: deny)", result.stdout)
        result = subprocess.run([*asked, "path=/one"], capture_output=True, encoding="utf-8", timeout=30, check=False)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("one count for all requests without it", result.stdout)
        self.assertIn("up to 3 in any 1 h: 2 at once", result.stdout)


if __name__ == "__main__":
    unittest.main()
