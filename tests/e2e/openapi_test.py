"""Compares a running daemon with docs/openapi.json: every described call, with valid and invalid input, and every
response against its schema. PENSTOCK_PROGRAM names the program."""

import json
import sys
import unittest
from pathlib import Path

from daemon import Answer, Daemon
from json_schema import Schema, resolve
from raw_client import RawClient

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
METHODS = ("get", "post", "put", "delete", "patch", "head", "options")

RULES = """
domains:
  api:
    deny:
      - name: banned
        when: {client_ip: 192.0.2.66}
    rules:
      - name: search
        description: search for all users
        when: {path: /search}
        key: [user]
        limits:
          minute: 3/minute
          day: 1000/day
      - name: once
        when: {path: /once}
        key: [client_ip]
        limit: 1/hour
      - name: window
        when: {path: /window}
        key: [user]
        limit: 100/hour fixed_window
        enforce: 12.5%
        abort: {denied_above: 5%, over: 1m}
        near_limit: 80%
      - name: everything
        limit: 1000000/s
"""
LOOPBACK = RULES + """
server:
  trusted_proxies: [127.0.0.1]
  forward_auth: {domain: api}
"""
WITH_TOKEN = RULES + """
server:
  token: open sesame
"""
# Nothing listens there.
WITHOUT_STORE = RULES.replace("  api:\n", "  api:\n    on_failure: closed\n") + """
server:
  trusted_proxies: [127.0.0.1]
  forward_auth: {domain: api}
store: {url: "redis://127.0.0.1:1", timeout: 50ms}
"""


def search(user, **more):
    return {"domain": "api", "attributes": {"path": "/search", "user": user}, **more}


def envoy(user):
    entries = [{"key": "path", "value": "/search"}, {"key": "user", "value": user}]
    return {"domain": "api", "descriptors": [{"entries": entries}]}


def proxied(client, path="/search"):
    return {"X-Forwarded-Uri": path, "X-Forwarded-For": client}


TAKE = {"key": "k", "limit": "100/m"}
OVER = {"key": "over", "limit": "2/h", "cost": 3}
KEY = "/v1/keys/user%3D7"
OVERRIDE = {"rule": "api/once", "subject": "client_ip=198.51.100.250", "limit": "9/h", "for": "1h", "reason": "incident"}
CHANGES = [  # (method, path in the document, path, body)
    ("delete", "/v1/keys/{key}", "/v1/keys/k", None),
    ("post", "/v1/keys/{key}/refund", "/v1/keys/k/refund", {"limit": "100/m"}),
    ("post", "/v1/keys/{key}/block", "/v1/keys/k/block", {"for": "1s", "reason": "abuse"}),
    ("post", "/v1/keys/{key}/unblock", "/v1/keys/k/unblock", None),
    ("post", "/v1/counters/{name}", "/v1/counters/n", {"add": 1}),
    ("delete", "/v1/counters/{name}", "/v1/counters/n", None),
    *(("post", f"/v1/{call}", f"/v1/{call}", body) for call, body in (
        ("reserve", dict(TAKE, id="one")), ("commit", {"id": "one", "actual": 3}),
        ("reserve", search("r", id="two", ttl="1m")), ("cancel", {"id": "two"}),
        ("acquire", {"key": "k", "limit": 1, "id": "one", "ttl": "1m"}),
        ("renew", {"key": "k", "id": "one"}), ("release", {"key": "k", "id": "one"}))),
    ("post", "/v1/overrides", "/v1/overrides", OVERRIDE),
    ("get", "/v1/overrides", "/v1/overrides?rule=api/once", None),
    ("get", "/v1/actions", "/v1/actions?n=10", None),
    ("delete", "/v1/overrides", "/v1/overrides?rule=api/once&subject=client_ip%3D198.51.100.250&reason=over", None),
]

# (method, path in the document, path, body, headers, status)
ON_LOOPBACK = [
    ("post", "/v1/check", "/v1/check", search("a", cost=2), {}, 200),
    ("post", "/v1/check", "/v1/check", search("a", cost=2), {}, 429),
    ("post", "/v1/check", "/v1/check", search("a", cost=4), {}, 429),
    ("post", "/v1/check", "/v1/check", {"domain": "none", "attributes": {}}, {}, 200),
    ("post", "/v1/check", "/v1/check",
     {"domain": "api", "descriptors": [{"entries": [{"key": "user", "value": "b"}], "cost": 0}]}, {}, 200),
    ("post", "/v1/check", "/v1/check",
     {"domain": "api", "attributes": {"client_ip": "192.0.2.66"}}, {}, 403),
    ("post", "/v1/check", "/v1/check", search("a", cost=-1), {}, 400),
    ("post", "/v1/check", "/v1/check", search("a", prize=1), {}, 400),
    ("post", "/v1/check", "/v1/check", "{", {}, 400),
    ("post", "/v1/checks", "/v1/checks", [search("c")] * 5, {}, 200),
    ("post", "/v1/checks", "/v1/checks", {"checks": [search("c")]}, {}, 200),
    ("post", "/v1/checks", "/v1/checks", [], {}, 400),
    ("post", "/v1/take", "/v1/take", TAKE, {}, 200),
    ("post", "/v1/take", "/v1/take", OVER, {}, 429),
    ("post", "/v1/take", "/v1/take", {"key": "k"}, {}, 400),
    ("post", "/v1/explain", "/v1/explain", search("d"), {}, 200),
    ("post", "/v1/explain", "/v1/explain", {}, {}, 400),
    ("get", "/v1/usage", "/v1/usage?domain=api&path=/search&user=c", None, {}, 200),
    ("get", "/v1/usage", "/v1/usage?domain=api&path=/window&user=c", None, {}, 200),
    ("get", "/v1/usage", "/v1/usage?domain=none", None, {}, 200),
    ("get", "/v1/usage", "/v1/usage?user=c", None, {}, 400),
    ("get", "/v1/usage", "/v1/usage?domain=api&user=c&user=d", None, {}, 400),
    ("post", "/json", "/json", envoy("e"), {}, 200),
    ("post", "/json", "/json", dict(envoy("e"), hitsAddend=3), {}, 429),
    ("post", "/json", "/json", {}, {}, 400),
    ("get", "/v1/keys/{key}", "/v1/keys/k?limit=100/m", None, {}, 200),
    ("get", "/v1/keys/{key}", KEY + "?rule=api/search", None, {}, 200),
    ("get", "/v1/keys/{key}", KEY + "?domain=api", None, {}, 200),
    ("get", "/v1/keys/{key}", "/v1/keys/k", None, {}, 400),
    ("delete", "/v1/keys/{key}", "/v1/keys/k?rule=none", None, {}, 400),
    ("post", "/v1/keys/{key}/refund", "/v1/keys/k/refund", {}, {}, 400),
    ("post", "/v1/keys/{key}/block", "/v1/keys/k/block", {}, {}, 400),
    ("post", "/v1/keys/{key}/unblock", "/v1/keys/k/unblock", {"for": "1s"}, {}, 400),
    ("post", "/v1/counters/{name}", "/v1/counters/n", {"add": "0.25", "ttl": "1h"}, {}, 200),
    ("post", "/v1/counters/{name}", "/v1/counters/big", {"add": 2**63 - 1}, {}, 200),
    ("post", "/v1/counters/{name}", "/v1/counters/big", {"add": 1}, {}, 409),
    ("post", "/v1/counters/{name}", "/v1/counters/n", {"add": 0.25}, {}, 400),
    ("get", "/v1/counters/{name}", "/v1/counters/n", None, {}, 200),
    ("get", "/v1/counters/{name}", "/v1/counters/n?x=1", None, {}, 400),
    ("delete", "/v1/counters/{name}", "/v1/counters/n?x=1", None, {}, 400),
    *((method, path, target, body, {}, 200) for method, path, target, body in CHANGES),
    ("post", "/v1/reserve", "/v1/reserve", dict(TAKE, id="one"), {}, 409),
    ("post", "/v1/reserve", "/v1/reserve", dict(TAKE, id="three"), {}, 200),
    ("post", "/v1/reserve", "/v1/reserve", dict(TAKE, id="three"), {}, 200),
    ("post", "/v1/reserve", "/v1/reserve", OVER, {}, 429),
    ("post", "/v1/reserve", "/v1/reserve", dict(TAKE, ttl="2d"), {}, 400),
    ("post", "/v1/reserve", "/v1/reserve",
     {"domain": "api", "attributes": {"client_ip": "192.0.2.66"}}, {}, 403),
    ("post", "/v1/commit", "/v1/commit", {"id": "two", "actual": 1}, {}, 409),
    ("post", "/v1/commit", "/v1/commit", {"id": "none", "actual": 1}, {}, 404),
    ("post", "/v1/commit", "/v1/commit", {"id": "one"}, {}, 400),
    ("post", "/v1/cancel", "/v1/cancel", {"id": "one"}, {}, 409),
    ("post", "/v1/cancel", "/v1/cancel", {"id": "none"}, {}, 404),
    ("post", "/v1/cancel", "/v1/cancel", {}, {}, 400),
    ("post", "/v1/acquire", "/v1/acquire", {"key": "k", "limit": 1}, {}, 200),
    ("post", "/v1/acquire", "/v1/acquire", {"key": "k", "limit": 1}, {}, 429),
    ("post", "/v1/acquire", "/v1/acquire", {"key": "k", "limit": 0}, {}, 400),
    ("post", "/v1/renew", "/v1/renew", {"key": "k", "id": "none"}, {}, 404),
    ("post", "/v1/renew", "/v1/renew", {"key": "k"}, {}, 400),
    ("post", "/v1/release", "/v1/release", {"key": "k"}, {}, 400),
    ("post", "/v1/overrides", "/v1/overrides", dict(OVERRIDE, rule="api/none"), {}, 400),
    ("get", "/v1/overrides", "/v1/overrides?x=1", None, {}, 400),
    ("delete", "/v1/overrides", "/v1/overrides", None, {}, 400),
    ("get", "/v1/actions", "/v1/actions?n=0", None, {}, 400),
    *(("post", "/v1/overrides", "/v1/overrides",
       {"rule": "api/once", "subject": f"client_ip=10.0.{i // 100}.{i % 100}", "multiply": "2", "for": "1h"}, {}, 200)
      for i in range(1000)),
    ("post", "/v1/overrides", "/v1/overrides", {"rule": "api/once", "shadow": True, "for": "1h"}, {}, 409),
    # a page of another site, and one whose name now has the address of this machine (DNS rebinding)
    *((method, path, target, body, {"Host": "page.example"} if method == "get" else {"Origin": "https://page.example"}, 403)
      for method, path, target, body in CHANGES),
]
ON_ADMIN = [
    ("get", "/metrics", "/metrics", None, {}, 200),
    ("get", "/healthz", "/healthz", None, {}, 200),
    ("get", "/readyz", "/readyz", None, {}, 200),
    ("get", "/rules", "/rules?domain=api", None, {}, 200),
    ("get", "/rules", "/rules?x=1", None, {}, 400),
    ("get", "/top", "/top?by=denied&n=3", None, {}, 200),
    ("get", "/top", "/top?n=0", None, {}, 400),
    ("get", "/top", "/top?by=new", None, {}, 200),
    ("get", "/state", "/state", None, {}, 200),
    ("get", "/state", "/state?x=1", None, {}, 400),
    ("get", "/history", "/history?span=1h&scope=node&since_ms=1", None, {}, 200),
    ("get", "/history", "/history?span=2h", None, {}, 400),
    ("get", "/subject", "/subject?domain=api&subject=user%3D1", None, {}, 200),
    ("get", "/subject", "/subject?domain=api", None, {}, 400),
    ("get", "/promises", "/promises", None, {}, 200),
    ("get", "/promises", "/promises?x=1", None, {}, 400),
]
ADMIN_REJECTED = [("get", path, path, None, headers, status)
                  for path in ("/rules", "/top", "/state", "/history", "/subject", "/promises")
                  for headers, status in (({"Authorization": "Bearer wrong"}, 401), ({"Host": "evil.example"}, 403))]


def proxy_calls(method, number):
    """Each method with its own client: all allowed requests and the first denied one."""
    document = "/v1/forward-auth"
    with_domain = "/v1/forward-auth/{domain}"
    endpoints = ((number, document, document), (number + 100, with_domain, document + "/api"))
    for client, path, target in endpoints:
        user = proxied(f"198.51.100.{client}")
        yield (method, path, target, None, user, 200)
        once = proxied(f"198.51.100.{client}", "/once")
        yield (method, path, target, None, once, 200)
        yield (method, path, target, None, once, 429)
        yield (method, path, target, None, proxied("192.0.2.66"), 403)
        yield (method, path, target, None, {**user, "X-Original-URI": "/other"}, 400)


ON_LOOPBACK += [
    call for number, method in enumerate(METHODS) for call in proxy_calls(method, number)
]
STORE_UNAVAILABLE = [
    ("post", "/v1/check", "/v1/check", search("a"), {}, 503),
    ("post", "/v1/take", "/v1/take", TAKE, {}, 503),
    ("post", "/v1/take", "/v1/take", dict(TAKE, on_failure="open"), {}, 200),
    ("post", "/v1/take", "/v1/take", dict(TAKE, on_failure="local"), {}, 200),
    ("get", "/v1/keys/{key}", "/v1/keys/k?limit=100/m", None, {}, 503),
    ("get", "/v1/counters/{name}", "/v1/counters/n", None, {}, 503),
    ("get", "/v1/usage", "/v1/usage?domain=api&path=/search&user=c", None, {}, 503),
    *((method, path, target, body, {}, 503) for method, path, target, body in CHANGES),
    *((method, path, target, None, proxied("198.51.100.1"), 503)
      for method in METHODS
      for path, target in (("/v1/forward-auth", "/v1/forward-auth"),
                           ("/v1/forward-auth/{domain}", "/v1/forward-auth/api"))),
]
NOT_IN_SCHEMA = [  # (path in the document, path, body): members that exclude each other, and null
    *((path, path, body) for path in ("/v1/check", "/v1/explain") for body in (
        {"domain": "api"},
        search("a", descriptors=[{"entries": [{"key": "a"}]}]),
        search("a", descriptors=None), search("a", cost=None), search(None),
        {"domain": "api", "attributes": None},
        {"domain": "api", "descriptors": [{"entries": [{"key": "a"}], "burst": 3}]},
        {"domain": "api", "descriptors": [{"entries": [{"key": "a", "value": None}]}]})),
    ("/v1/checks", "/v1/checks", {"checks": None}),
    ("/v1/checks", "/v1/checks", [search("a", cost=None)]),
    *(("/v1/take", "/v1/take", dict(TAKE, **more)) for more in (
        {"on_failure": None}, {"burst": None}, {"algorithm": None}, {"cost": None}, {"key": None})),
    *(("/v1/keys/{key}/refund", "/v1/keys/k/refund", body) for body in (
        {}, {"rule": "api/search", "limit": "5/m"}, {"rule": None, "limit": "5/m"},
        {"rule": "api/search", "burst": 3})),
    ("/v1/keys/{key}/block", "/v1/keys/k/block", {"for": "1s", "rule": "api/search", "domain": "api"}),
    ("/v1/keys/{key}/block", "/v1/keys/k/block", {"for": "1s", "rule": None}),
    ("/v1/keys/{key}/unblock", "/v1/keys/k/unblock", {"rule": "api/search", "domain": "api"}),
    ("/v1/keys/{key}/unblock", "/v1/keys/k/unblock", {"domain": None}),
    *(("/v1/overrides", "/v1/overrides", body) for body in (
        dict(OVERRIDE, multiply="2"), dict(OVERRIDE, shadow=True), {"rule": "api/once", "for": "1h"},
        {"rule": "api/once", "shadow": False, "for": "1h"}, dict(OVERRIDE, reason=None))),
    ("/v1/counters/{name}", "/v1/counters/n", {"add": None}),
    ("/v1/counters/{name}", "/v1/counters/n", {"add": "1."}),
    ("/v1/counters/{name}", "/v1/counters/n", {"add": 2**63}),
    ("/v1/counters/{name}", "/v1/counters/n", {"add": 1, "ttl": None}),
    *(("/v1/reserve", "/v1/reserve", body) for body in (
        dict(TAKE, domain="api"), dict(TAKE, attributes={}), search("a", limit="5/m"),
        search("a", on_failure="open"), search("a", id=None), dict(TAKE, ttl=None))),
    ("/v1/acquire", "/v1/acquire", {"key": "k", "limit": 1, "id": None}),
    ("/v1/renew", "/v1/renew", {"key": "k", "id": "a", "ttl": None}),
]
# Longer than a single call allows, but not than a batch allows.
LONG_BODIES = [
    ("post", path, target, dict(body, x="x" * 70_000), {}, 413)
    for path, target, body in (
        ("/v1/check", "/v1/check", search("a")), ("/v1/take", "/v1/take", TAKE),
        ("/v1/explain", "/v1/explain", search("a")), ("/json", "/json", envoy("e")),
        ("/v1/reserve", "/v1/reserve", TAKE), ("/v1/commit", "/v1/commit", {}),
        ("/v1/acquire", "/v1/acquire", {}), ("/v1/counters/{name}", "/v1/counters/n", {}),
        ("/v1/keys/{key}/refund", "/v1/keys/k/refund", {}), ("/v1/overrides", "/v1/overrides", {}))
] + [("post", "/v1/checks", "/v1/checks", [search("x" * 70_000)], {}, 200)]
TOO_LONG = {  # rejected by the request reader before the rest has arrived
    413: "Content-Length: 2000000\r\n\r\n",
    431: "X-Long: " + "a" * 17_000,
}


# A daemon that has no rules yet or is stopping answers too briefly to be tested here.
NOT_PROVOKED = {("get", "/readyz", "503")}


class OpenApi(unittest.TestCase):
    seen = set()

    def run_calls(self, daemon, calls, port=None):
        for method, path, target, body, headers, status in calls:
            with self.subTest(call=f"{method} {target}", status=status):
                answer = daemon.ask(method.upper(), target, body, headers, port)
                self.assertEqual(answer.status, status, answer.body)
                self.hold_against_document(method, path, answer)
                self.seen.add((method, path, str(status)))

    def send_too_long(self, port, method, path):
        target = path.replace("{", "").replace("}", "")
        for status, rest in TOO_LONG.items():
            with self.subTest(call=f"{method} {target}", status=status), RawClient(port) as client:
                client.send(f"{method.upper()} {target} HTTP/1.1\r\nHost: x\r\n{rest}".encode())
                received, fields, body = client.answer(method.upper())
                self.assertEqual(received, status)
                body = json.loads(body) if body else ""
                self.hold_against_document(method, path, Answer(received, fields, body))
                self.seen.add((method, path, str(status)))

    def hold_against_document(self, method, path, answer):
        described = DOCUMENT["paths"][path][method]["responses"].get(str(answer.status))
        self.assertIsNotNone(described, f"{answer.status} is not described")
        described = resolve(DOCUMENT, described)
        schema = Schema(DOCUMENT)
        for name, header in described.get("headers", {}).items():
            value = answer.fields.get(name.lower())
            self.assertFalse(value is None and header.get("required"), f"{name} is missing")
            if value is not None:
                typed = int(value) if header["schema"].get("type") == "integer" else value
                self.assertEqual(list(schema.errors(header["schema"], typed)), [])
        if method == "head":
            self.assertEqual(answer.body, "")
            return
        content = described.get("content")
        if content is None:
            self.assertEqual(answer.body, "")
            return
        media = answer.fields["content-type"]
        self.assertIn(media, content)
        self.assertEqual(list(schema.errors(content[media]["schema"], answer.body)), [])
        if media == "application/problem+json":
            self.assertEqual(answer.body["status"], answer.status)
            self.assertEqual(answer.fields["cache-control"], "no-store")

    def test_every_answer_is_as_described(self):
        with_token = {"Authorization": "Bearer open sesame"}
        changes = [(*call, {}, 401) for call in CHANGES]
        changes += [(*call, with_token, 200) for call in CHANGES]
        with Daemon(LOOPBACK) as daemon:
            self.run_calls(daemon, ON_LOOPBACK)
            self.run_calls(daemon, ON_ADMIN, daemon.admin_port)
            self.run_calls(daemon, LONG_BODIES)
            for path, item in DOCUMENT["paths"].items():
                port = daemon.admin_port if "servers" in item else daemon.port
                for method in METHODS:
                    if method in item:
                        self.send_too_long(port, method, path)
        with Daemon(WITHOUT_STORE) as daemon:
            self.run_calls(daemon, STORE_UNAVAILABLE)
        with Daemon(WITH_TOKEN, listen="0.0.0.0:0") as daemon:
            self.run_calls(daemon, changes)
            self.run_calls(daemon, ADMIN_REJECTED, daemon.admin_port)
        self.assertEqual(described_answers() - self.seen - NOT_PROVOKED, set())

    def test_bodies_that_the_schema_excludes_are_rejected(self):
        with Daemon(LOOPBACK) as daemon:
            for path, target, body in NOT_IN_SCHEMA:
                with self.subTest(path=path, body=body):
                    content = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]
                    schema = content["application/json"]["schema"]
                    self.assertNotEqual(list(Schema(DOCUMENT, strict=False).errors(schema, body)), [])
                    answer = daemon.ask("POST", target, body)
                    self.assertEqual(answer.status, 400, answer.body)

    def test_other_methods_and_paths_are_rejected(self):
        with Daemon(LOOPBACK) as daemon:
            for path, item in DOCUMENT["paths"].items():
                port = daemon.admin_port if "servers" in item else daemon.port
                self.rejects_all_but(item, daemon, path.replace("{", "").replace("}", ""), port)

    def rejects_all_but(self, item, daemon, target, port):
        for method in METHODS:
            if method in item or (method == "head" and port == daemon.admin_port):
                continue
            answer = daemon.ask(method.upper(), target, port=port)
            self.assertEqual(answer.status, 405, f"{method} {target}")
            allowed = answer.fields["allow"].lower().split(", ")
            self.assertLessEqual({name for name in METHODS if name in item}, set(allowed))
        self.assertEqual(daemon.ask("GET", target + "/x/y/z", port=port).status, 404)

    def test_examples_of_bodies_fit_their_schemas(self):
        for method, path, _, body, _, status in ON_LOOPBACK:
            if status != 200 or body is None:
                continue
            content = DOCUMENT["paths"][path][method]["requestBody"]["content"]
            schema = content["application/json"]["schema"]
            self.assertEqual(list(Schema(DOCUMENT, strict=False).errors(schema, body)), [], body)


def described_answers():
    return {
        (method, path, status)
        for path, item in DOCUMENT["paths"].items()
        for method in METHODS if method in item
        for status in item[method]["responses"]
    }


if __name__ == "__main__":
    sys.exit(unittest.main())
