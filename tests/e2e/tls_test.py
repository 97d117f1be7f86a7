"""The daemon over TLS: server and client certificates, renewed while it runs."""

import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
import warnings
from pathlib import Path

from daemon import PROGRAM, Daemon, eventually
from raw_client import RawClient
from redis_server import free_port
from server_process import require

RULES = """
server: {tls: {certificate: server.pem, key: server.key MORE}}
domains: {api: {rules: [{name: all, limit: 1000000/hour}]}}
"""
PEEK = b"GET /v1/keys/a?limit=5/m HTTP/1.1\r\nHost: x\r\n\r\n"


def setUpModule():
    require("openssl")


class Certificates:
    """Self-signed certificates, each with its name as the subject."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))

    def make(self, name, host="localhost"):
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-noenc", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{host}",
             "-out", str(certificate), "-keyout", str(key)],
            check=True, capture_output=True,
        )
        return certificate, key

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        certificates = Certificates()
        cls.addClassCleanup(certificates.close)
        cls.old, cls.new, cls.client = (certificates.make(n) for n in ("old", "new", "client"))

    def files(self, pair, more=()):
        texts = {"server.pem": pair[0].read_text(), "server.key": pair[1].read_text()}
        return {**texts, **dict(more)}

    def trust(self, *pairs):
        context = ssl.create_default_context()
        for certificate, _ in pairs:
            context.load_verify_locations(certificate)
        return context

    def subject(self, daemon):
        with RawClient(daemon.port, self.trust(self.old, self.new)) as client:
            self.assertEqual(client.send(PEEK).answer()[0], 200)
            return dict(part[0] for part in client.socket.getpeercert()["subject"])["commonName"]

    def replace(self, daemon, pair):
        """Like renewal programs: each file is written to a temporary name and renamed."""
        for name, source in (("server.key", pair[1]), ("server.pem", pair[0])):
            fresh = daemon.folder / (name + ".new")
            shutil.copy(source, fresh)
            os.replace(fresh, daemon.folder / name)

    def test_serves_a_new_certificate_when_its_files_change(self):
        with Daemon(RULES.replace(" MORE", ""), files=self.files(self.old)) as daemon:
            self.assertEqual(self.subject(daemon), "old")
            with RawClient(daemon.port, self.trust(self.old)) as kept:
                self.assertEqual(kept.send(PEEK).answer()[0], 200)
                self.replace(daemon, self.new)
                self.assertTrue(eventually(lambda: self.subject(daemon) == "new"))
                self.assertEqual(kept.send(PEEK).answer()[0], 200, "old connections go on")
            for name, source in zip(("server.pem", "server.key"), self.old):
                shutil.copy(source, daemon.folder / name)  # written in place
            self.assertTrue(eventually(lambda: self.subject(daemon) == "old"))

    def connect(self, port, context, session=None):
        """One request: the session to resume, and whether this one was resumed."""
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain, context.wrap_socket(
            plain, server_hostname="localhost", session=session
        ) as secure:
            secure.sendall(PEEK)
            self.assertIn(b"200 OK", secure.recv(65536))  # tickets of TLS 1.3 are in front of it
            return secure.session, secure.session_reused

    def test_sessions_are_resumed_on_every_worker_of_a_listener(self):
        other = free_port()
        text = RULES.replace(" MORE", "").replace("server: {", "server: {workers: 4, ") + f"""
gateway:
  listen: 127.0.0.1:{other}
  tls: {{certificate: server.pem, key: server.key}}
  upstreams: {{app: {{servers: "http://127.0.0.1:{free_port()}"}}}}
  routes: [{{upstream: app}}]
"""
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with Daemon(text, files=self.files(self.old)) as daemon:
                context = self.trust(self.old)
                context.maximum_version = version
                session, _ = self.connect(daemon.port, context)
                reused = [self.connect(daemon.port, context, session)[1] for _ in range(20)]
                self.assertEqual(reused, [True] * 20)
                with socket.create_connection(("127.0.0.1", other), timeout=20) as plain:
                    with context.wrap_socket(plain, server_hostname="localhost", session=session) as gateway:
                        self.assertFalse(gateway.session_reused, "another listener")

    def test_keeps_the_old_certificate_when_the_new_one_is_bad(self):
        with Daemon(RULES.replace(" MORE", ""), files=self.files(self.old)) as daemon:
            (daemon.folder / "server.pem").write_text("no certificate", encoding="utf-8")
            daemon.wait_for_output("part of the configuration was not reloaded")
            self.assertRegex(daemon.output, r'not reloaded.*problem="?server\.tls: certificate ')
            self.assertEqual(self.subject(daemon), "old")
            self.replace(daemon, self.new)
            self.assertTrue(eventually(lambda: self.subject(daemon) == "new"))

    def test_does_not_start_with_a_key_of_another_certificate(self):
        files = self.files((self.old[0], self.new[1]))
        with self.assertRaisesRegex(RuntimeError, r"server\.(key|pem)"):
            Daemon(RULES.replace(" MORE", ""), files=files)

    def test_clients_without_a_certificate_are_rejected_with_client_ca(self):
        files = self.files(self.old, {"clients.pem": self.client[0].read_text()}.items())
        text = RULES.replace(" MORE", ", client_ca: clients.pem")
        with Daemon(text, files=files) as daemon:
            known = self.trust(self.old)
            known.load_cert_chain(*self.client)
            with RawClient(daemon.port, known) as client:
                self.assertEqual(client.send(PEEK).answer()[0], 200)
            untrusted = self.trust(self.old)
            untrusted.load_cert_chain(*self.new)
            for context in (self.trust(self.old), untrusted):
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    with RawClient(daemon.port, context) as client:
                        client.send(PEEK).socket.recv(1)
            self.assertTrue(eventually(
                lambda: daemon.metric('penstock_listener_errors_total{kind="tls"}') == 2))

    def test_plain_http_on_a_tls_port_gets_no_answer(self):
        with Daemon(RULES.replace(" MORE", ""), files=self.files(self.old)) as daemon:
            for garbage in (PEEK, b"\x16\x03\x01" + bytes(200), bytes(5)):
                with RawClient(daemon.port) as client:
                    self.assertNotIn(b"200 OK", client.send(garbage).everything()[:20])
            self.assertEqual(self.subject(daemon), "old")

    def test_the_cli_connects_over_tls(self):
        with Daemon(RULES.replace(" MORE", ""), files=self.files(self.old)) as daemon:
            result = subprocess.run(
                [PROGRAM, "explain", "--server", f"https://localhost:{daemon.port}",
                 "--ca", str(self.old[0]), "--domain", "api", "--json", "a=b"],
                capture_output=True, encoding="utf-8", timeout=20, check=False,
            )
        self.assertEqual(result.returncode, 0, result)

    def test_old_versions_of_tls_are_rejected(self):
        with Daemon(RULES.replace(" MORE", ""), files=self.files(self.old)) as daemon:
            context = self.trust(self.old)
            context.set_ciphers("DEFAULT@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = ssl.TLSVersion.TLSv1_1
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                RawClient(daemon.port, context)


if __name__ == "__main__":
    unittest.main()
