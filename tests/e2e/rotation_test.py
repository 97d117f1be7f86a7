"""Tokens, passwords and certificates are rotated without a restart, and no client is rejected while both the old and
the new one are valid."""

import re
import shutil
import signal
import socket
import ssl
import unittest

from daemon import Daemon, eventually
from redis_server import RedisServer
from resp_client import RespClient
from server_process import require
from tls_test import Certificates

DOMAINS = "domains: {api: {rules: [{name: all, limit: 1000000/hour, on_failure: closed}]}}\n"
RESTART = "take effect after a restart"


def write(daemon, name, text):
    """Changes a file of the daemon and signals a reload."""
    (daemon.folder / name).write_text(text, encoding="utf-8")
    daemon.signal(signal.SIGHUP)


class Tokens(unittest.TestCase):
    @staticmethod
    def status(daemon, token):
        return daemon.ask("DELETE", "/v1/keys/a", headers={"Authorization": f"Bearer {token}"}).status

    def test_a_token_is_rotated_with_an_overlap(self):
        with Daemon("server: {token_file: token}\n" + DOMAINS, files={"token": "old\n"}) as daemon:
            self.assertEqual([self.status(daemon, t) for t in ("old", "new")], [200, 401])
            write(daemon, "token", "new\nold\n")
            self.assertTrue(eventually(lambda: self.status(daemon, "new") == 200))
            self.assertEqual(self.status(daemon, "old"), 200)
            write(daemon, "token", "new\n")
            self.assertTrue(eventually(lambda: self.status(daemon, "old") == 401))
            self.assertEqual(self.status(daemon, "new"), 200)
            self.assertNotIn(RESTART, daemon.output)

    def test_named_tokens_are_rotated_like_others(self):
        text = "server: {token_file: token, tokens: {carol: [c, d]}}\n" + DOMAINS
        with Daemon(text, files={"token": "alice: a\nplain\n"}) as daemon:
            self.assertEqual([self.status(daemon, t) for t in ("a", "plain", "c", "d", "alice: a")], [200] * 4 + [401])
            write(daemon, "token", "bob: b\n")
            self.assertTrue(eventually(lambda: self.status(daemon, "a") == 401))
            self.assertEqual([self.status(daemon, t) for t in ("b", "plain", "c")], [200, 401, 200])
            write(daemon, "penstock.yaml", text.replace("[c, d]", "d"))
            self.assertTrue(eventually(lambda: self.status(daemon, "c") == 401))
            self.assertEqual(self.status(daemon, "d"), 200)
            self.assertNotIn(RESTART, daemon.output)

    def test_a_list_of_tokens_in_the_configuration(self):
        with Daemon("server: {token: old}\n" + DOMAINS) as daemon:
            write(daemon, "penstock.yaml", "server: {token: [old, new]}\n" + DOMAINS)
            self.assertTrue(eventually(lambda: self.status(daemon, "new") == 200))
            self.assertEqual(self.status(daemon, "old"), 200)
            self.assertNotIn(RESTART, daemon.output)


class Passwords(unittest.TestCase):
    @staticmethod
    def is_accepted(daemon, password):
        with RespClient(daemon.resp_port) as client:
            try:
                return client.ask("AUTH", password) == "OK"
            except RuntimeError:
                return False

    def test_the_resp_password_is_rotated_with_an_overlap(self):
        text = "resp: {listen: '127.0.0.1:0', password_file: password}\n" + DOMAINS
        with Daemon(text, files={"password": "old\n"}) as daemon, RespClient(daemon.resp_port) as kept:
            self.assertEqual(kept.ask("AUTH", "old"), "OK")
            self.assertFalse(self.is_accepted(daemon, "new"))
            write(daemon, "password", "old\nnew\n")
            self.assertTrue(eventually(lambda: self.is_accepted(daemon, "new")))
            self.assertTrue(self.is_accepted(daemon, "old"))
            write(daemon, "password", "new\n")
            self.assertTrue(eventually(lambda: not self.is_accepted(daemon, "old")))
            self.assertTrue(self.is_accepted(daemon, "new"))
            self.assertEqual(kept.ask("PING"), "PONG", "authenticated clients stay authenticated")
            self.assertNotIn(RESTART, daemon.output)

    def test_the_last_password_cannot_be_removed_on_a_public_address(self):
        text = "resp: {listen: '0.0.0.0:0', password: sesame}\n" + DOMAINS
        with Daemon(text) as daemon:
            write(daemon, "penstock.yaml", text.replace(", password: sesame", ""))
            daemon.wait_for_output("resp.password")
            with RespClient(daemon.resp_port) as client:
                with self.assertRaisesRegex(RuntimeError, "NOAUTH"):
                    client.ask("PING")
            self.assertTrue(self.is_accepted(daemon, "sesame"))


class TlsOnAllListeners(unittest.TestCase):
    RULES = """
server: {tls: {certificate: server.pem, key: server.key}}
grpc: {listen: "127.0.0.1:0", tls: {certificate: server.pem, key: server.key}}
resp: {listen: "127.0.0.1:0", tls: {certificate: server.pem, key: server.key}}
gateway:
  listen: "127.0.0.1:0"
  tls: {certificate: server.pem, key: server.key}
  upstreams: {app: {servers: ["http://127.0.0.1:9"]}}
  routes: [{upstream: app}]
""" + DOMAINS

    @classmethod
    def setUpClass(cls):
        require("openssl")
        certificates = Certificates()
        cls.addClassCleanup(certificates.close)
        cls.old, cls.new = (certificates.make(name) for name in ("old", "new"))

    @staticmethod
    def files(pair, name="server"):
        return {f"{name}.pem": pair[0].read_text(), f"{name}.key": pair[1].read_text()}

    def trusting(self, own=None):
        context = ssl.create_default_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        for certificate, _ in (self.old, self.new):
            context.load_verify_locations(certificate)
        if own is not None:
            context.load_cert_chain(*own)
        return context

    def subjects(self, daemon):
        """The certificate subject of each listener."""
        found = {}
        for scheme, port in re.findall(r"listening on (\w+)://[^ ]*:(\d+)", daemon.output):
            with socket.create_connection(("127.0.0.1", int(port)), timeout=20) as plain:
                with self.trusting().wrap_socket(plain, server_hostname="localhost") as client:
                    subject = dict(part[0] for part in client.getpeercert()["subject"])
                    found[scheme + port] = subject["commonName"]
        self.assertEqual(len(found), 4, found)
        return set(found.values())

    def test_certificates_of_all_listeners_are_rotated(self):
        with Daemon(self.RULES, files=self.files(self.old)) as daemon:
            self.assertEqual(self.subjects(daemon), {"old"})
            for name, text in self.files(self.new).items():
                (daemon.folder / name).write_text(text, encoding="utf-8")
            self.assertTrue(eventually(lambda: self.subjects(daemon) == {"new"}))
            # Names other files in the configuration.
            for name, text in self.files(self.old, "other").items():
                (daemon.folder / name).write_text(text, encoding="utf-8")
            write(daemon, "penstock.yaml", self.RULES.replace("server.", "other."))
            self.assertTrue(eventually(lambda: self.subjects(daemon) == {"old"}))
            # They are watched too.
            for name, text in self.files(self.new, "other").items():
                (daemon.folder / name).write_text(text, encoding="utf-8")
            self.assertTrue(eventually(lambda: self.subjects(daemon) == {"new"}))
            self.assertNotIn(RESTART, daemon.output)

    def is_let_in(self, daemon, pair):
        try:
            with socket.create_connection(("127.0.0.1", daemon.port), timeout=20) as plain:
                with self.trusting(pair).wrap_socket(plain, server_hostname="localhost") as client:
                    client.sendall(b"GET /v1/keys/a?limit=5/m HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    return client.recv(12) == b"HTTP/1.1 200"
        except (ssl.SSLError, ConnectionError):
            return False

    def test_the_client_ca_is_rotated_with_an_overlap(self):
        text = "server: {tls: {certificate: server.pem, key: server.key, client_ca: clients.pem}}\n" + DOMAINS
        old, new = self.old[0].read_text(), self.new[0].read_text()
        with Daemon(text, files={**self.files(self.old), "clients.pem": old}) as daemon:
            self.assertTrue(self.is_let_in(daemon, self.old))
            self.assertFalse(self.is_let_in(daemon, self.new))
            write(daemon, "clients.pem", old + new)
            self.assertTrue(eventually(lambda: self.is_let_in(daemon, self.new)))
            self.assertTrue(self.is_let_in(daemon, self.old))
            write(daemon, "clients.pem", new)
            self.assertTrue(eventually(lambda: not self.is_let_in(daemon, self.old)))
            self.assertTrue(self.is_let_in(daemon, self.new))


@unittest.skipIf(shutil.which("redis-server") is None, "redis-server is not installed")
class RedisPassword(unittest.TestCase):
    @staticmethod
    def check(daemon):
        return daemon.ask("POST", "/v1/check", {"domain": "api", "attributes": {"a": "b"}}).status

    def test_a_new_password_is_used_for_new_connections(self):
        server = RedisServer("--requirepass", "first")
        self.addCleanup(server.close)
        url = f"redis://:PASSWORD@127.0.0.1:{server.port}"
        text = "store: {url_file: url, audit_interval: 1s}\n" + DOMAINS
        with Daemon(text, files={"url": url.replace("PASSWORD", "first")}) as daemon:
            self.assertTrue(eventually(lambda: self.check(daemon) == 200))
            with RespClient(server.port) as admin:
                admin.ask("AUTH", "first")
                admin.ask("CONFIG", "SET", "requirepass", "second")
                self.assertEqual(self.check(daemon), 200, "open connections stay")
                write(daemon, "url", url.replace("PASSWORD", "second"))
                daemon.wait_for_output("the configuration was reloaded")
                for kind in ("normal", "pubsub"):
                    admin.ask("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
                self.assertTrue(eventually(lambda: self.check(daemon) == 200))
                # the change feed and the auditor have reconnected too
                self.assertTrue(eventually(lambda: "sub=1" in admin.ask("CLIENT", "LIST")))
            self.assertNotIn(RESTART, daemon.output)
            self.assertNotIn("store audit failed", daemon.output)


if __name__ == "__main__":
    unittest.main()
