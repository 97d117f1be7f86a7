"""Starter configurations of `penstock init`, and `penstock serve` without --config. Each kind is driven with the
requests that its comments describe. The program is named by PENSTOCK_PROGRAM."""

import http.server
import os
import re
import shlex
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from daemon import PROGRAM, Daemon, ask

BAD_INPUT = 2
KINDS = ("api", "login", "llm", "gateway")


def run(*arguments, folder):
    return subprocess.run(
        [PROGRAM, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        timeout=60, check=False,
    )


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def init(self, *arguments):
        return run("init", *arguments, folder=self.folder)


class InitTest(FolderTest):
    def test_writes_penstock_yaml_by_default(self):
        result = self.init()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("penstock.yaml was written."), result.stdout)
        self.assertIn("\n  penstock serve\n", result.stdout)
        self.assertEqual(os.listdir(self.folder), ["penstock.yaml"])
        self.assertEqual((self.folder / "penstock.yaml").stat().st_mode & 0o022, 0)

    def test_every_kind_is_valid_without_warnings_and_commented(self):
        for kind in KINDS:
            result = self.init("--kind", kind, f"{kind}.yaml")
            self.assertEqual(result.returncode, 0, result)
            self.assertIn(f"penstock serve --config {kind}.yaml", result.stdout)
            checked = run("validate", "--strict", f"{kind}.yaml", folder=self.folder)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""), kind)
            lines = (self.folder / f"{kind}.yaml").read_text(encoding="utf-8").splitlines()
            self.assertGreater(sum(line.lstrip().startswith("#") for line in lines), len(lines) // 4)
            self.assertLessEqual(max(map(len, lines)), 110)

    def test_never_overwrites_without_force(self):
        file = self.folder / "penstock.yaml"
        file.write_text("mine\n", encoding="utf-8")
        result = self.init()
        self.assertEqual((result.returncode, result.stdout), (BAD_INPUT, ""))
        self.assertIn('penstock init: "penstock.yaml": the file exists; --force overwrites it', result.stderr)
        self.assertEqual(file.read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.init("--force").returncode, 0)
        self.assertIn("domains:", file.read_text(encoding="utf-8"))

    def test_a_dangling_link_is_not_followed(self):
        (self.folder / "penstock.yaml").symlink_to(self.folder / "elsewhere.yaml")
        self.assertEqual(self.init().returncode, BAD_INPUT)
        self.assertFalse((self.folder / "elsewhere.yaml").exists())

    def test_errors_name_the_value(self):
        for arguments, words in ((["--kind", "web"], '--kind "web": expected api|login|llm|gateway'),
                                 (["no/such/folder.yaml"], '"no/such/folder.yaml": No such file')):
            result = self.init(*arguments)
            self.assertEqual(result.returncode, BAD_INPUT)
            self.assertIn(words, result.stderr)
        self.assertEqual(os.listdir(self.folder), [])


class KindTest(FolderTest):
    """Requests to a daemon with the file of each kind, and the answers that its comments promise."""

    def daemon(self, kind, **changes):
        result = self.init("--kind", kind)
        self.assertEqual(result.returncode, 0, result)
        self.request = result.stdout.splitlines()[-1].strip()
        text = (self.folder / "penstock.yaml").read_text(encoding="utf-8")
        for old, new in changes.items():
            text = text.replace(old.replace("port", "127.0.0.1:"), new)
        daemon = Daemon(text)
        self.addCleanup(daemon.close)
        return daemon

    def forward(self, daemon, path="/", method="GET", **headers):
        fields = {"X-Forwarded-Method": method, "X-Forwarded-Uri": path, "X-Forwarded-For": "203.0.113.7"}
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        return daemon.ask("GET", "/v1/forward-auth", headers=fields).status

    def check(self, daemon, domain, **attributes):
        return daemon.ask("POST", "/v1/check", {"domain": domain, "attributes": attributes}).status

    def assert_request_is_answered(self, daemon, status):
        """The command that `penstock init` prints."""
        command = self.request.replace("127.0.0.1:8080", f"127.0.0.1:{daemon.port}")
        words = shlex.split(command)
        result = subprocess.run([*words, "-o", os.devnull, "-w", "%{http_code}"], capture_output=True,
                                encoding="utf-8", timeout=20, check=False)
        self.assertEqual(result.stdout[-3:], str(status), result)

    def test_api(self):
        daemon = self.daemon("api")
        self.assert_request_is_answered(daemon, 200)
        # a burst of 20 per key, which refills at 10/s
        statuses = [self.forward(daemon, X_Api_Key="k2") for _ in range(40)]
        self.assertEqual(statuses[:20], [200] * 20)
        self.assertIn(429, statuses)
        self.assertEqual(self.forward(daemon, X_Api_Key="k3"), 200)
        self.assertEqual(self.forward(daemon, "/healthz", X_Api_Key="k2"), 200)
        searches = [self.forward(daemon, "/v1/search/x", X_Forwarded_For="203.0.113.8") for _ in range(6)]
        self.assertEqual(searches, [200] * 5 + [429])

    def test_login(self):
        daemon = self.daemon("login")
        self.assert_request_is_answered(daemon, 200)
        attempts = [self.forward(daemon, "/login", "POST") for _ in range(6)]
        self.assertEqual(attempts, [200] * 5 + [429])
        self.assertEqual(self.forward(daemon, "/login", "POST", X_Forwarded_For="203.0.113.9"), 200)
        self.assertEqual(self.forward(daemon, "/other"), 200)
        self.assertEqual([self.check(daemon, "login", account="bob") for _ in range(4)], [200] * 3 + [429])
        self.assertEqual(self.check(daemon, "login"), 403)
        daemon.ask("DELETE", "/v1/keys/account%3Dbob?rule=login/per-account")
        self.assertEqual(self.check(daemon, "login", account="bob"), 200)

    def test_llm(self):
        daemon = self.daemon("llm")
        self.assert_request_is_answered(daemon, 200)
        body = {"domain": "tokens", "attributes": {"user": "8"}, "cost": 9000, "id": "r1"}
        reserved = daemon.ask("POST", "/v1/reserve", body)
        self.assertEqual((reserved.status, reserved.body["remaining"]), (200, 1000))
        self.assertEqual(daemon.ask("POST", "/v1/reserve", {**body, "id": "r2"}).status, 429)
        settled = daemon.ask("POST", "/v1/commit", {"id": "r1", "actual": 1000})
        self.assertEqual((settled.status, settled.body["state"]), (200, "committed"))
        self.assertEqual(daemon.ask("POST", "/v1/reserve", {**body, "id": "r3"}).status, 200)
        self.assertEqual([self.check(daemon, "requests", user="8") for _ in range(6)], [200] * 5 + [429])

    def test_gateway(self):
        class Application(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(204)
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        gateway = free_port()
        self.daemon("gateway", port3000=f"127.0.0.1:{server.server_port}", port8000=f"127.0.0.1:{gateway}")
        self.assertEqual(self.request, "curl -si http://127.0.0.1:8000/")
        self.assertEqual(ask(gateway, "GET", "/").status, 204)
        logins = [ask(gateway, "POST", "/login", {}).status for _ in range(6)]
        self.assertEqual(logins, [204] * 5 + [429])


class ServeWithoutConfigurationTest(FolderTest):
    def serve(self):
        return subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--shutdown-delay", "0s"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        )

    def test_uses_the_file_of_the_working_directory_and_says_so(self):
        self.assertEqual(self.init("--kind", "login").returncode, 0)
        process = self.serve()
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.addCleanup(process.stdout.close)
        port = 0
        line = ""
        deadline = time.monotonic() + 20
        while "serving" not in line and time.monotonic() < deadline:
            line = process.stdout.readline()
            found = re.search(r"listening on http://127.0.0.1:(\d+)", line)
            port = int(found.group(1)) if found else port
        self.assertIn('configuration="./penstock.yaml"', line)
        body = {"domain": "login", "attributes": {"account": "carol"}}
        self.assertEqual(ask(port, "POST", "/v1/check", body).body["rule"], "login/per-account")

    @unittest.skipIf(os.path.exists("/etc/penstock/penstock.yaml"), "Penstock is installed on this machine")
    def test_without_any_file_the_error_names_both_and_suggests_init(self):
        result = run("serve", folder=self.folder)
        self.assertEqual((result.returncode, result.stdout), (BAD_INPUT, ""))
        for words in ("./penstock.yaml", "/etc/penstock/penstock.yaml", "penstock init", "--config"):
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
