"""nginx, HAProxy and Caddy in front of an application, with checks by the daemon: the configurations of examples/,
with other ports."""

import http.server
import shutil
import signal
import tempfile
import threading
import time
import unittest
from pathlib import Path

from daemon import SOURCE_DIR, Daemon, ask
from redis_server import free_port
from server_process import ServerProcess, require

RULES = """
server:
  trusted_proxies: [127.0.0.1/32]
  headers: [draft-08, x-ratelimit-unix]
domains:
  default:
    deny:
      - name: banned
        when: {path: /banned}
    rules:
      - name: per-path
        when: {path: /limited/**}
        key: [client_ip, path]
        limit: 3/hour
"""
# Attempts of clients to be counted as another request.
FORGED = (
    ("X-Forwarded-Uri", "/free"),
    ("X-Original-URI", "/free"),
    ("X-Original-URL", "http://127.0.0.1/free"),
    ("X-Forwarded-Method", "PUT"),
    ("X-Original-Method", "PUT"),
    ("X-Forwarded-For", "198.51.100.9"),
    ("X-Real-IP", "198.51.100.9"),
)


class Application(http.server.BaseHTTPRequestHandler):
    """The application behind the proxies. It echoes the request, and can answer 403 by itself."""

    protocol_version = "HTTP/1.1"
    seen = []

    def do_GET(self):
        Application.seen.append(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b"hello\n"
        self.send_response(403 if self.path.startswith("/forbidden") else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class ApplicationServer(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # proxies may close connections at any time


class ProxySetup:
    """A proxy between clients and the application, beside a daemon."""

    rules = RULES

    @classmethod
    def setUpClass(cls):
        require(cls.program)
        cls.application = ApplicationServer(("127.0.0.1", 0), Application)
        threading.Thread(target=cls.application.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.application.server_close)
        cls.addClassCleanup(cls.application.shutdown)
        cls.daemon = Daemon(cls.rules)
        cls.addClassCleanup(cls.daemon.close)
        cls.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.port = free_port()
        cls.start()

    @classmethod
    def write(cls, example, own_port):
        text = (SOURCE_DIR / "examples" / example).read_text(encoding="utf-8")
        ports = {own_port: cls.port, 8080: cls.daemon.port, 3000: cls.application.server_port}
        for old, new in ports.items():
            text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
        path = cls.folder / Path(example).name
        path.write_text(text, encoding="utf-8")
        return path

    @classmethod
    def run_proxy(cls, *command, env=None):
        cls.addClassCleanup(ServerProcess(command, cls.port, cls.folder, env).close)

    def get(self, path, method="GET"):
        return ask(self.port, method, path)


class ProxyCase(ProxySetup):
    """The tests of each proxy."""

    statuses_while_down = (200,)  # requests pass

    def test_admits_up_to_the_limit_and_denies_the_rest_with_429(self):
        for _ in range(3):
            status, _, body = self.get("/limited/a")
            self.assertEqual((status, body), (200, "hello\n"))
        before = len(Application.seen)
        status, fields, _ = self.get("/limited/a")
        self.assertEqual(status, 429)
        # 3 per hour: the next one fits within 20 minutes.
        self.assertTrue(1 <= int(fields["retry-after"]) <= 1200, fields)
        self.assertEqual(len(Application.seen), before, "denied requests are not forwarded")

    def test_counts_paths_separately_and_ignores_others(self):
        for _ in range(3):
            self.assertEqual(self.get("/limited/b")[0], 200)
        self.assertEqual(self.get("/limited/b")[0], 429)
        self.assertEqual(self.get("/limited/c?x=1")[0], 200)
        for _ in range(8):
            self.assertEqual(self.get("/free")[0], 200)

    def test_sees_the_method_and_passes_bodies(self):
        self.assertEqual(ask(self.port, "POST", "/limited/post", "x" * 5000)[0], 200)

    def test_a_403_of_the_application_is_forwarded(self):
        self.assertEqual(self.get("/forbidden")[0], 403)

    def test_denies_clients_on_the_deny_list(self):
        self.assertIn(self.get("/banned")[0], (403, 429))

    def test_clients_cannot_override_the_checked_attributes(self):
        for _ in range(3):
            self.assertEqual(self.get("/limited/forged")[0], 200)
        for name, value in FORGED:
            with self.subTest(name=name):
                status, _, _ = ask(self.port, "GET", "/limited/forged", headers={name: value})
                self.assertIn(status, (400, 429))

    def test_oversized_headers_do_not_bypass_the_check(self):
        headers = {name: "x" * 6000 for name in "abc"}
        status, _, _ = ask(self.port, "GET", "/limited/large", headers=headers)
        self.assertIn(status, (400, 431))

    def test_applies_its_failure_mode_while_the_daemon_is_down(self):
        self.daemon.signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            status, _, _ = self.get("/free")
            took = time.monotonic() - start
        finally:
            self.daemon.signal(signal.SIGCONT)
        self.assertIn(status, self.statuses_while_down)
        self.assertLess(took, 10)  # not until the daemon resumes


class ForwardAuthCase(ProxyCase):
    """Proxies that forward a denial unchanged."""

    def test_forwards_the_reason_to_clients(self):
        for _ in range(3):
            self.get("/limited/reason")
        status, fields, body = self.get("/limited/reason")
        self.assertEqual(status, 429)
        self.assertEqual(fields["content-type"], "application/problem+json")
        self.assertEqual(body["violated-policies"], ["per-path"])
        self.assertIn("retry-after", fields)


class NginxTest(ProxyCase, unittest.TestCase):
    program = "nginx"

    @classmethod
    def start(cls):
        path = cls.write("nginx/nginx.conf", 8000)
        text = path.read_text(encoding="utf-8")
        text = text.replace("      auth_request /_penstock;",
                            "      auth_request /_penstock;\n"
                            "      auth_request_set $reset $upstream_http_x_ratelimit_reset;")
        text = text.replace("add_header RateLimit $penstock_state always;",
                            "add_header RateLimit $penstock_state always;\n"
                            "      add_header X-RateLimit-Reset $reset always;")
        path.write_text(text, encoding="utf-8")
        cls.run_proxy("nginx", "-p", str(cls.folder), "-c", str(path), "-g", "daemon off;")

    def test_shows_the_limit_to_clients(self):
        _, fields, _ = self.get("/limited/headers")
        self.assertIn("per-path", fields["ratelimit-policy"])
        self.assertIn("r=2", fields["ratelimit"])

    def test_passes_on_the_time_of_the_reset(self):
        for _ in range(4):
            status, fields, _ = self.get("/limited/reset")
            wait = int(fields["x-ratelimit-reset"]) - time.time()
            self.assertTrue(0 < wait <= 3601, wait)
        self.assertEqual(status, 429)
        self.assertLessEqual(abs(wait - int(fields["retry-after"])), 2)


class NginxStatusTest(ProxySetup, unittest.TestCase):
    """The status of a denial tells its reason, although auth_request supports 403 only."""

    program = "nginx"
    rules = f"""
store: {{url: "redis://127.0.0.1:{free_port()}"}}
server: {{trusted_proxies: [127.0.0.1/32]}}
domains:
  default:
    deny:
      - {{name: banned, when: {{path: /banned}}}}
    rules:
      - {{name: closed, when: {{path: /closed}}, limit: 3/hour, on_failure: closed}}
      - {{name: local, when: {{path: /local}}, limit: 1/hour, on_failure: local}}
      - {{name: keyed, when: {{path: /keyed}}, key: [header.x-api-key], limit: 3/hour, if_missing: deny}}
"""

    @classmethod
    def start(cls):
        path = cls.write("nginx/nginx.conf", 8000)
        cls.run_proxy("nginx", "-p", str(cls.folder), "-c", str(path), "-g", "daemon off;")

    def test_a_rule_that_fails_closed_gives_503(self):
        status, fields, _ = self.get("/closed")
        self.assertEqual((status, fields["retry-after"]), (503, "1"))

    def test_a_local_limit_gives_429(self):
        self.assertEqual([self.get("/local")[0] for _ in range(2)], [200, 429])

    def test_a_deny_list_and_a_missing_attribute_give_403(self):
        for path in ("/banned", "/keyed"):
            status, fields, _ = self.get(path)
            self.assertEqual(status, 403)
            self.assertNotIn("retry-after", fields)


class HaproxyTest(ProxyCase, unittest.TestCase):
    program = "haproxy"

    @classmethod
    def start(cls):
        path = cls.write("haproxy/haproxy.cfg", 8001)
        cls.write("haproxy/penstock.lua", 8001)
        cls.run_proxy("haproxy", "-db", "-f", str(path))

    def test_shows_the_limit_to_clients(self):
        _, fields, _ = self.get("/limited/headers")
        self.assertIn("per-path", fields["ratelimit-policy"])


class CaddyTest(ForwardAuthCase, unittest.TestCase):
    program = "caddy"
    statuses_while_down = (502, 504)  # it cannot continue without a response

    @classmethod
    def start(cls):
        path = cls.write("caddy/Caddyfile", 8002)
        home = str(cls.folder)
        cls.run_proxy(
            "caddy", "run", "--config", str(path), "--adapter", "caddyfile",
            env={"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home},
        )


if __name__ == "__main__":
    unittest.main()
