"""Chromium in front of the gateway, over HTTP/1.1 and over HTTP/2. Skipped where it is not installed."""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from gateway_setup import MEBIBYTE, gateway
from server_process import require

_TIMEOUT = 60  # seconds; a browser takes some to start
NAMES = ("chromium", "chromium-browser", "google-chrome")

# Sends requests like a page does, and reports the results to the application behind the gateway.
PAGE = """<!doctype html><title>page</title><img src="/picture"><script>
(async () => {
  const said = {statuses: [], left: []};
  try {
    for (let i = 0; i < 5; ++i) {
      const answer = await fetch('/limited/page');
      said.statuses.push(answer.status);
      said.left.push(answer.headers.get('x-ratelimit-remaining'));
      said.problem = answer.headers.get('content-type');
      await answer.text();
    }
    const many = await Promise.all([...Array(50).keys()].map(i => fetch('/small/' + i).then(a => a.text())));
    said.small = many.filter(text => text === 'small').length;
    const large = await fetch('/echo', {method: 'POST', body: new Uint8Array(SIZE)});
    said.echoed = (await large.arrayBuffer()).byteLength;
    said.protocol = performance.getEntriesByType('navigation')[0].nextHopProtocol;
  } catch (failure) {
    said.failure = String(failure);
  }
  await fetch('/report', {method: 'POST', body: JSON.stringify(said)});
})();
</script>""".replace("SIZE", str(MEBIBYTE))


class Application(ThreadingHTTPServer):
    """Serves the page and its resources; `reports` has its results."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.port = self.server_address[1]
        self.reports = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):  # noqa: N802, named by the library
        if self.path == "/":
            self.answer(PAGE.encode(), "text/html")
        else:
            self.answer(b"small", "text/plain")

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/report":
            self.server.reports.put(json.loads(body))
        self.answer(body, "application/octet-stream")

    def answer(self, body, content_type):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Chromium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = next(filter(None, map(shutil.which, NAMES)), None)
        if cls.program is None:
            raise unittest.SkipTest("none of " + ", ".join(NAMES) + " is installed")

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.application = Application()
        self.addCleanup(self.application.close)

    def visit(self, url):
        """The results that the page reports."""
        command = [self.program, "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--disable-component-update", "--ignore-certificate-errors",
                   "--remote-debugging-port=0", f"--user-data-dir={self.folder / 'profile'}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # required as root
        with open(self.folder / "browser.log", "w", encoding="utf-8") as log:
            browser = subprocess.Popen([*command, url], stdout=log, stderr=log)
        try:
            return self.application.reports.get(timeout=_TIMEOUT)
        except queue.Empty:
            self.fail("the page reports nothing:\n" + (self.folder / "browser.log").read_text(encoding="utf-8"))
        finally:
            browser.terminate()
            try:
                browser.wait(20)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()

    def check(self, report, protocol):
        self.assertNotIn("failure", report)
        self.assertEqual(report["statuses"], [200, 200, 200, 429, 429])
        self.assertEqual(report["left"], ["2", "1", "0", "0", "0"])
        self.assertEqual(report["problem"], "application/problem+json")
        self.assertEqual(report["small"], 50)
        self.assertEqual(report["echoed"], MEBIBYTE)
        self.assertEqual(report["protocol"], protocol)

    def test_over_http1(self):
        with gateway([self.application.port]) as daemon:
            self.check(self.visit(f"http://127.0.0.1:{daemon.gateway_port}/"), "http/1.1")

    def test_over_http2(self):
        require("openssl")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost", "-days", "2"],
                       cwd=self.folder, check=True, capture_output=True)
        more = f"tls: {{certificate: {self.folder}/cert.pem, key: {self.folder}/key.pem}}"
        with gateway([self.application.port], more=more) as daemon:
            self.check(self.visit(f"https://127.0.0.1:{daemon.gateway_port}/"), "h2")


if __name__ == "__main__":
    unittest.main()
